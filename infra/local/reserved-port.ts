import { createServer } from 'node:net';
import { openOnLoopback } from '../loopback.ts';
import type { Part } from './stack-parts.ts';

export interface ReservedPort extends Part {
  readonly number: number;
}

/**
 * Reserves a port (0: any free one) for a server that opens later. Connections are dropped until `stop` releases it.
 */
export async function reservePort(wanted: number): Promise<ReservedPort> {
  const holder = createServer((socket) => socket.destroy());
  const number = await openOnLoopback(holder, wanted);
  return { number, stop: () => new Promise((resolve) => holder.close(() => resolve())) };
}

import { createServer } from 'node:net';
import { openOnLoopback } from '../loopback.ts';
import type { Part } from './parts.ts';

export interface HeldPort extends Part {
  readonly number: number;
}

/** Keeps a port (0: any free one) for a server that opens later; nobody is served there until `stop` gives it back. */
export async function holdPort(wanted: number): Promise<HeldPort> {
  const holder = createServer((socket) => socket.destroy());
  const number = await openOnLoopback(holder, wanted);
  return { number, stop: () => new Promise((resolve) => holder.close(() => resolve())) };
}

import type { IncomingMessage } from 'node:http';
import { longestUploadBytes } from './uploads/upload.ts';

/** Returns `too_long` for more than `most` bytes. */
export async function readBytes(incoming: AsyncIterable<Buffer>, most: number): Promise<Buffer | 'too_long'> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of incoming) {
    bytes += chunk.byteLength;
    if (bytes > most) return 'too_long';
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** Keeps what arrived of an interrupted upload, so that the client can resume it. */
export function readUpload(incoming: IncomingMessage): Promise<Buffer | 'too_long'> {
  return readBytes(untilCutOff(incoming), longestUploadBytes);
}

async function* untilCutOff(incoming: AsyncIterable<Buffer>): AsyncIterable<Buffer> {
  try {
    yield* incoming;
  } catch (error) {
    if (!hasHungUp(error)) throw error;
  }
}

/** Tells whether the client closed the connection. */
export function hasHungUp(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ECONNRESET';
}

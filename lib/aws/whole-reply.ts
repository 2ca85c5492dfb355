import type { IncomingMessage } from 'node:http';

/** A reply above `maxBytes` is not read to its end. */
export class ReplyTooLarge extends Error {
  constructor() {
    super('reply too large');
    this.name = 'ReplyTooLarge';
  }
}

/**
 * Returns the bytes of a reply. Rejects when it is cut off, and with `ReplyTooLarge`, which closes its connection.
 * Events take a fraction of the processor time of an iterator or a pipe.
 */
export function wholeReply(reply: IncomingMessage, maxBytes = Number.POSITIVE_INFINITY): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    reply.on('data', (chunk: Buffer) => {
      bytes += chunk.byteLength;
      if (bytes > maxBytes) reply.destroy(new ReplyTooLarge());
      else chunks.push(chunk);
    });
    reply.once('end', () => resolve(Buffer.concat(chunks)));
    reply.once('error', reject);
  });
}

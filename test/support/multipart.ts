import type { HttpEvent } from '../../lib/http/endpoint.ts';
import { makeHttpEvent } from './http-event.ts';

export interface FormPart {
  readonly headers: readonly string[];
  readonly content: string | Buffer;
}

export const templatePart: FormPart = {
  headers: ['Content-Disposition: form-data; name="template"'],
  content: '{"name":"welcome"}',
};

export const filePart: FormPart = {
  headers: ['Content-Disposition: form-data; name="file"; filename="logo.png"', 'Content-Type: image/png'],
  content: Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0x00, 0xff, 0x0d, 0x0a, 0x2d, 0x2d]),
};

/** Writes a form body as clients do. */
export function formBody(parts: readonly FormPart[], boundary: string): Buffer {
  return Buffer.concat([
    ...parts.flatMap(({ headers, content }) => [
      Buffer.from(`--${boundary}\r\n${headers.join('\r\n')}\r\n\r\n`),
      Buffer.from(content),
      Buffer.from('\r\n'),
    ]),
    Buffer.from(`--${boundary}--\r\n`),
  ]);
}

/** Makes the event of a form: the gateway encodes every body that is no text as base64. */
export function formEvent(body: Buffer, contentType = 'multipart/form-data; boundary=b'): HttpEvent {
  return makeHttpEvent({
    routeKey: 'POST /v1/templates/{did}',
    headers: { 'content-type': contentType },
    body: body.toString('base64'),
    isBase64Encoded: true,
  });
}

import type { HttpEvent, Preparation } from './endpoint.ts';
import { jsonFault, placeIn } from './json-fault.ts';
import { jsonNesting } from './json-nesting.ts';
import { Refusal } from './refusal.ts';

export type BodyReader = Preparation;

/** The JSON of a request may nest no deeper (D6). */
const deepestJson = 32;

/** Each kind of route limits bodies (D6). Forms have their own limit. */
export const bodyMaxBytes = {
  /** Lambda limits a whole event to this, so the body itself gets less. */
  send: 6_291_456,
  /** The platform sends 3 MB at most (platform reference, 10.1). */
  platform: 4_194_304,
  template: 1_048_576,
  bulk: 262_144,
  plain: 65_536,
} as const;

/** Drops what came, for a page without a body. */
export const noBody: BodyReader = async ({ event }) => {
  Object.assign(event, { body: undefined, isBase64Encoded: false });
};

/** Reads text for a page that parses it itself. Refuses with 413 more than `maxBytes`. */
export function textBody({ maxBytes }: { readonly maxBytes: number }): BodyReader {
  return async ({ event }) => {
    Object.assign(event, { body: bodyText(event, maxBytes), isBase64Encoded: false });
  };
}

/** Reads the body as the caller signed it: text, or bytes where the gateway gave base64. Refuses with 413. */
export function rawBody({ maxBytes }: { readonly maxBytes: number }): BodyReader {
  return async ({ event }) => {
    const body = sizedBody(event, maxBytes);
    const raw = event.isBase64Encoded ? Buffer.from(body, 'base64') : body;
    Object.assign(event, { body: raw, isBase64Encoded: false });
  };
}

/** Returns the text of a body, base64 or not, empty without one. Refuses large bodies, and bytes that are not UTF-8. */
export function bodyText(event: HttpEvent, maxBytes: number): string {
  const body = sizedBody(event, maxBytes);
  return event.isBase64Encoded ? utf8Text(Buffer.from(body, 'base64')) : body;
}

/** Returns the bytes of a body, base64 or not, empty without one. Refuses more than `maxBytes`. */
export function bodyBytes(event: HttpEvent, maxBytes: number): Buffer {
  return Buffer.from(sizedBody(event, maxBytes), event.isBase64Encoded ? 'base64' : 'utf8');
}

/** Refuses with 413 more than `maxBytes`. Base64 is measured without decoding. */
function sizedBody(event: HttpEvent, maxBytes: number): string {
  const body = typeof event.body === 'string' ? event.body : '';
  if (Buffer.byteLength(body, event.isBase64Encoded ? 'base64' : 'utf8') <= maxBytes) return body;
  throw new Refusal('payload_too_large', `the request body must have at most ${maxBytes} bytes`);
}

export interface JsonSubject {
  readonly name: string;
  readonly mustBe: string;
  /** Without it, the refusal has only a message. */
  readonly path?: string;
}

const requestBody: JsonSubject = { name: 'the request body', mustBe: 'valid JSON' };

/** Reads bytes that must be UTF-8 as text. A byte order mark stays, and the JSON parser refuses it. */
export function utf8Text(bytes: Buffer, subject = requestBody): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (error) {
    throw malformed(subject, `must be ${subject.mustBe}: ${encodingFault(bytes)}`, error);
  }
}

/** A lenient decoding changes bytes where UTF-8 ends. */
function encodingFault(bytes: Buffer): string {
  const written = Buffer.from(bytes.toString('utf8'));
  const at = bytes.findIndex((byte, index) => byte !== written[index]);
  const before = bytes.toString('utf8', 0, at < 0 ? bytes.byteLength : at);
  return `${placeIn(before, before.length)}: expected UTF-8, received another encoding`;
}

/**
 * Parses any JSON value. Refuses with 400 other text, and more than 32 levels (D6). A reviver would take several times
 * the value's memory.
 */
export function jsonValue(text: string, subject = requestBody): unknown {
  refuseDeepJson(text, subject);
  try {
    return JSON.parse(text);
  } catch (error) {
    throw noJson(text, { subject, cause: error });
  }
}

/** Returns the refusal of text that is not JSON: it names the place and quotes at most a word. */
export function noJson(
  text: string,
  { subject = requestBody, cause }: { subject?: JsonSubject; cause?: unknown },
): Refusal {
  const fault = jsonFault(text);
  const where = fault === undefined ? '' : `${fault.startsWith('line') ? ':' : ','} ${fault}`;
  return malformed(subject, `must be ${subject.mustBe}${where}`, cause);
}

/** Refuses deep JSON before a parser allocates it. Text with open brackets is not JSON. */
export function refuseDeepJson(text: string, subject = requestBody): void {
  const { deepest, closed } = jsonNesting(text);
  if (deepest <= deepestJson) return;
  throw closed ? malformed(subject, `must not nest deeper than ${deepestJson} levels`) : noJson(text, { subject });
}

/** Refuses with 400 JSON that is not an object (D6). */
export function jsonObject(value: unknown, subject = requestBody): Record<string, unknown> {
  if (value !== null && typeof value === 'object' && !Array.isArray(value)) return value as Record<string, unknown>;
  throw malformed(subject, 'must be a JSON object');
}

function malformed({ name, path }: JsonSubject, fault: string, cause?: unknown): Refusal {
  const message = `${name} ${fault}`;
  return new Refusal('malformed_body', message, {
    cause,
    errors: path === undefined ? undefined : [{ path, message }],
  });
}

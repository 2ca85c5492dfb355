import type { HttpEvent } from './endpoint.ts';
import { Refusal } from './refusal.ts';

/** The text of a request body, base64 or not; empty when there is none. */
export function bodyText(event: HttpEvent): string {
  const text = typeof event.body === 'string' ? event.body : '';
  return event.isBase64Encoded ? Buffer.from(text, 'base64').toString('utf8') : text;
}

/** The bytes of a request body, base64 or not; none when there is none. */
export function bodyBytes(event: HttpEvent): Buffer {
  return Buffer.from(typeof event.body === 'string' ? event.body : '', event.isBase64Encoded ? 'base64' : 'utf8');
}

/** Any JSON value, objects or not. Refuses with 400 what is not JSON. */
export function jsonValue(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new Refusal('malformed_body', 'the request body must be valid JSON', { cause: error });
  }
}

/** A request's whole JSON is an object. Refuses with 400 what is none (D6). */
export function jsonObject(value: unknown): Record<string, unknown> {
  if (value !== null && typeof value === 'object' && !Array.isArray(value)) return value as Record<string, unknown>;
  throw new Refusal('malformed_body', 'the request body must be a JSON object');
}

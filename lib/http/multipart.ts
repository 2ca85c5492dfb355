import { bodyBytes, bodyText, jsonObject, jsonValue } from './body.ts';
import type { HttpEvent } from './endpoint.ts';
import { boundaryOf, type Part, partsOf } from './multipart-parts.ts';
import { Refusal } from './refusal.ts';

/** Lambda takes events up to about 4.7 MB of raw body; this stays below, so that the refusal is ours (D18, R11). */
const maxBodyBytes = 4_500_000;
const maxTemplateBytes = 1_048_576;

export interface MultipartFile {
  readonly bytes: Buffer;
  /** Media type as declared by the client, lower case without parameters; `application/octet-stream` when not told. */
  readonly contentType: string;
  /** Last segment of the client's file name, free of control characters; `file` when there is none. */
  readonly name: string;
}

export interface MultipartTemplate {
  /** The JSON object of part `template`, still to be parsed with a schema. */
  readonly template: Record<string, unknown>;
  readonly file?: MultipartFile;
}

/** What a request carries that may come as JSON, the template alone, or as a form with a file (D18). */
export function readTemplate(event: HttpEvent): MultipartTemplate {
  return isMultipart(event) ? readMultipart(event) : { template: jsonObject(jsonValue(bodyText(event))) };
}

/** Whether a request says that its body is a form rather than JSON. */
export function isMultipart(event: HttpEvent): boolean {
  return /^\s*multipart\/form-data\s*(?:;|$)/i.test(event.headers['content-type'] ?? '');
}

/**
 * Reads the form of D18: exactly one part `template`, JSON as a field or as a file part, and at most one part `file`.
 * Whatever else it holds is refused and never dropped (R9 to R12): 413 for a body over 4,500,000 bytes or a template over
 * 1 MiB, 400 for everything else, each naming the part.
 */
export function readMultipart(event: HttpEvent): MultipartTemplate {
  const body = bodyBytes(event);
  if (body.byteLength > maxBodyBytes) {
    throw new Refusal('payload_too_large', `the request body must have at most ${maxBodyBytes} bytes`);
  }
  const parts = new Map<string, Part>();
  for (const part of partsOf(body, boundaryOf(event.headers['content-type'] ?? ''))) {
    if (part.name !== 'template' && part.name !== 'file') {
      throw refusedPart('malformed_body', part.name, `unrecognized part: ${part.name}`);
    }
    if (parts.has(part.name)) {
      throw refusedPart('malformed_body', part.name, `part ${part.name} must occur only once`);
    }
    parts.set(part.name, part);
  }
  const template = parts.get('template');
  if (template === undefined) throw refusedPart('malformed_body', 'template', 'part template is required');
  const file = parts.get('file');
  return { template: jsonOf(template), ...(file === undefined ? {} : { file: fileOf(file) }) };
}

function jsonOf({ content }: Part): Record<string, unknown> {
  if (content.byteLength > maxTemplateBytes) {
    const message = `part template must have at most ${maxTemplateBytes} bytes`;
    throw refusedPart('payload_too_large', 'template', message);
  }
  const value = parsedOf(content);
  if (value !== null && typeof value === 'object' && !Array.isArray(value)) return value as Record<string, unknown>;
  throw refusedPart('malformed_body', 'template', 'part template must be a JSON object');
}

function parsedOf(content: Buffer): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(content));
  } catch (error) {
    throw refusedPart('malformed_body', 'template', 'part template must be valid JSON in UTF-8', error);
  }
}

function fileOf({ content, contentType, fileName }: Part): MultipartFile {
  const name = fileName
    ?.split(/[\\/]/)
    .at(-1)
    ?.replace(/\p{Cc}/gu, '')
    .slice(0, 200)
    .toWellFormed();
  return { bytes: content, contentType: contentType ?? 'application/octet-stream', name: name || 'file' };
}

function refusedPart(
  code: 'malformed_body' | 'payload_too_large',
  path: string,
  message: string,
  cause?: unknown,
): Refusal {
  return new Refusal(code, message, { errors: [{ path, message }], cause });
}

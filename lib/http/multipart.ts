import {
  type BodyReader,
  bodyBytes,
  bodyMaxBytes,
  bodyText,
  type JsonSubject,
  jsonObject,
  jsonValue,
  utf8Text,
} from './body.ts';
import type { HttpEvent } from './endpoint.ts';
import { Refusal } from './refusal.ts';
import { sanitizedForm } from './sanitized-form.ts';

/** Lambda accepts about 4.7 MB of raw body. A lower limit makes the refusal this service's own (D18, R11). */
const maxFormBytes = 4_500_000;

export interface MultipartFile {
  readonly bytes: Buffer;
  /** The client declares it: lower case without parameters, `application/octet-stream` by default. */
  readonly contentType: string;
  /** The name is the last segment of the client's file name, without control characters, or `file`. */
  readonly name: string;
}

export interface MultipartTemplate {
  readonly template: Record<string, unknown>;
  readonly file?: MultipartFile;
}

/**
 * Reads a body as JSON, or as a form with one part `template` and at most one `file` (D18). All else is refused, never
 * dropped (R9 to R12): large ones with 413, else 400.
 */
export const templateBody: BodyReader = async (request) => {
  const { event } = request;
  const read = isMultipart(event) ? await readMultipart(event) : readJson(event);
  Object.assign(event, { body: read, isBase64Encoded: false });
};

export function templateOf(event: HttpEvent): MultipartTemplate {
  return event.body as MultipartTemplate;
}

/** The schema, not this parser, reports keys such as `__proto__`, together with all other faults. */
function readJson(event: HttpEvent): MultipartTemplate {
  return { template: jsonObject(jsonValue(bodyText(event, bodyMaxBytes.template))) };
}

/** Tells whether the request declares its body as a form. */
export function isMultipart(event: HttpEvent): boolean {
  return /^\s*multipart\/form-data\s*(?:;|$)/i.test(event.headers['content-type'] ?? '');
}

/** Each part is parsed as a file, so that none is decoded or cut as text. */
interface Attachment {
  readonly filename?: string;
  readonly mimetype: string;
  readonly content: Buffer;
}

/** Imports the parser on demand: most requests bring JSON, and it would slow every cold start. */
async function formParser() {
  const { default: httpMultipartBodyParser } = await import('@middy/http-multipart-body-parser');
  return httpMultipartBodyParser({ busboy: { isPartAFile: () => true } });
}

/** Returns the parts of a form, parsed by middy behind `sanitizedForm`. */
export async function readMultipart(event: HttpEvent): Promise<MultipartTemplate> {
  const body = bodyBytes(event, maxFormBytes);
  const form = sanitizedForm(body, event.headers['content-type'] ?? '', ['template', 'file']);
  const parsed = { headers: { 'content-type': form.contentType }, body: form.body as unknown };
  const parser = await formParser();
  await parser.before?.({ event: parsed } as never);
  const { template, file } = parsed.body as { readonly template?: Attachment; readonly file?: Attachment };
  if (template === undefined) throw refusedTemplate('malformed_body', 'part template is required');
  return { template: jsonOf(template), file: file && fileOf(file) };
}

const partTemplate: JsonSubject = { name: 'part template', mustBe: 'valid JSON in UTF-8', path: 'template' };

function jsonOf({ content }: Attachment): Record<string, unknown> {
  if (content.byteLength > bodyMaxBytes.template) {
    throw refusedTemplate('payload_too_large', `part template must have at most ${bodyMaxBytes.template} bytes`);
  }
  return jsonObject(jsonValue(utf8Text(content, partTemplate), partTemplate), partTemplate);
}

function fileOf({ content, mimetype, filename }: Attachment): MultipartFile {
  const name = filename
    ?.replace(/\p{Cc}/gu, '')
    .slice(0, 200)
    .toWellFormed();
  return { bytes: content, contentType: mimetype, name: name || 'file' };
}

function refusedTemplate(code: 'malformed_body' | 'payload_too_large', message: string): Refusal {
  return new Refusal(code, message, { errors: [{ path: 'template', message }] });
}

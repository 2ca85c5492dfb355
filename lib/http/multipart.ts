import { present } from '../keys/present.ts';
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
import { framedForm } from './form-frame.ts';
import { Refusal } from './refusal.ts';

/** Lambda takes events up to about 4.7 MB of raw body; this stays below, so that the refusal is ours (D18, R11). */
const maxFormBytes = 4_500_000;

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

/**
 * The body of a request that may come as JSON, or as a form with a file (D18): exactly one part `template`, as a field
 * or a file part, and at most one part `file`. All else is refused, never dropped (R9 to R12): 413 over 4,500,000 bytes
 * or a template over 1 MiB, else 400.
 */
export const templateBody: BodyReader = async (request) => {
  const { event } = request;
  const read = isMultipart(event) ? await readMultipart(event) : readJson(event);
  Object.assign(event, { body: read, isBase64Encoded: false });
};

/** What `templateBody` has read. */
export function templateOf(event: HttpEvent): MultipartTemplate {
  return event.body as MultipartTemplate;
}

/** A key such as `__proto__` is for the schema to name, with all other faults. */
function readJson(event: HttpEvent): MultipartTemplate {
  return { template: jsonObject(jsonValue(bodyText(event, bodyMaxBytes.template))) };
}

/** Whether a request says that its body is a form rather than JSON. */
export function isMultipart(event: HttpEvent): boolean {
  return /^\s*multipart\/form-data\s*(?:;|$)/i.test(event.headers['content-type'] ?? '');
}

/** What middy's parser makes of a part; each is taken for a file, so that none is decoded or cut as text. */
interface Attachment {
  readonly filename?: string;
  readonly mimetype: string;
  readonly content: Buffer;
}

/** Imported when a form comes: most requests bring JSON, and every start would pay for the parser. */
async function formParser() {
  const { default: httpMultipartBodyParser } = await import('@middy/http-multipart-body-parser');
  return httpMultipartBodyParser({ busboy: { isPartAFile: () => true } });
}

/** The parts of a form, by middy's parser behind a frame of ours. */
export async function readMultipart(event: HttpEvent): Promise<MultipartTemplate> {
  const body = bodyBytes(event, maxFormBytes);
  const form = framedForm(body, event.headers['content-type'] ?? '', ['template', 'file']);
  const parsed = { headers: { 'content-type': form.contentType }, body: form.body as unknown };
  const parser = await formParser();
  await parser.before?.({ event: parsed } as never);
  const { template, file } = parsed.body as { readonly template?: Attachment; readonly file?: Attachment };
  if (template === undefined) throw refusedTemplate('malformed_body', 'part template is required');
  return { template: jsonOf(template), ...present({ file: file && fileOf(file) }) };
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

import type { FormFile, PlatformRequest } from './platform-request.ts';

/** A form can only write these numbers as text. */
const numeric = new Set(['file_length', 'message_send_ttl_seconds', 'ttl_minutes']);

export interface ParsedBody {
  readonly body: unknown;
  readonly file?: FormFile | undefined;
}

/**
 * JSON is JSON whatever the content type; a form may hold JSON values. Anything else stays text; empty is undefined.
 */
export async function parsedBody(bytes: Buffer, contentType: string | undefined): Promise<ParsedBody> {
  if (bytes.byteLength === 0) return { body: undefined };
  if (contentType?.startsWith('multipart/form-data') === true) return multipart(bytes, contentType);
  const text = bytes.toString();
  const json = parsedJson(text);
  // A client library sends some of its JSON as a JSON string.
  if (typeof json === 'string') return { body: parsedJson(json) ?? json };
  if (json !== undefined) return { body: json };
  if (contentType?.startsWith('application/x-www-form-urlencoded') !== true) return { body: text };
  return {
    body: Object.fromEntries([...new URLSearchParams(text)].map(([name, value]) => [name, formValue(name, value)])),
  };
}

async function multipart(bytes: Buffer, contentType: string): Promise<ParsedBody> {
  const headers = { 'content-type': contentType };
  const form = await new Response(new Uint8Array(bytes), { headers }).formData().catch(() => undefined);
  if (form === undefined) return { body: bytes.toString() };
  const fields: Record<string, unknown> = {};
  let file: FormFile | undefined;
  for (const [name, value] of form) {
    if (typeof value === 'string') fields[name] = formValue(name, value);
    else file ??= { type: value.type, bytes: Buffer.from(await value.arrayBuffer()) };
  }
  return { body: fields, file };
}

function formValue(name: string, text: string): unknown {
  if (/^\s*[[{]/.test(text) || text === 'true' || text === 'false') return parsedJson(text) ?? text;
  return numeric.has(name) && text.trim() !== '' && Number.isFinite(Number(text)) ? Number(text) : text;
}

function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Client libraries add these to every request. */
const ignored = ['access_token', 'appsecret_proof'];

/** Takes the token from query, body or header, and leaves the parameters. */
export function credentialsApart(
  authorization: string | undefined,
  query: URLSearchParams,
  body: unknown,
): Pick<PlatformRequest, 'accessToken' | 'body' | 'parameters'> {
  const fields = typeof body === 'object' && body !== null && !Array.isArray(body) ? { ...body } : undefined;
  const inBody = fields === undefined ? undefined : (fields as { readonly access_token?: unknown }).access_token;
  const inHeader = /^(?:Bearer|OAuth)\s+(\S+)$/i.exec(authorization ?? '')?.[1];
  // The query wins: one client library keeps its token in the header and passes an app's in the query.
  const accessToken =
    query.get('access_token') ?? (typeof inBody === 'string' && inBody !== '' ? inBody : undefined) ?? inHeader;
  const without = (all: object) => Object.fromEntries(Object.entries(all).filter(([name]) => !ignored.includes(name)));
  return {
    accessToken,
    body: fields === undefined ? body : without(fields),
    parameters: { ...without(Object.fromEntries(query)), ...(fields === undefined ? {} : without(fields)) },
  };
}

import { createHash } from 'node:crypto';
import { didYouMean } from './closest-name.ts';
import { Refusal } from './refusal.ts';

/*
 * The frame of a multipart/form-data body (RFC 7578, RFC 2046 section 5.1) is checked strictly and written again, so
 * that the parser behind it need not guess, drop or crash.
 */

export interface SanitizedForm {
  readonly contentType: string;
  readonly body: Buffer;
}

interface Part {
  readonly name: string;
  readonly headers: readonly string[];
  readonly content: Buffer;
}

const maxHeaderBytes = 8_192;
const maxShownNameCharacters = 80;
const lineEnd = '\r\n';

/**
 * Rewrites the form with a hash as boundary, which no part can contain. Each of `names` may occur once. Refuses with
 * 400 the first fault (R9, R10, R12).
 */
export function sanitizedForm(body: Buffer, contentType: string, names: readonly string[]): SanitizedForm {
  const parts: Part[] = [];
  for (const section of sectionsOf(body, boundaryOf(contentType))) {
    const part = partOf(section, parts.length + 1);
    if (!names.includes(part.name)) {
      throw refusedPart(part.name, `unrecognized part: ${part.name}${didYouMean(part.name, names)}`);
    }
    if (parts.some(({ name }) => name === part.name)) {
      throw refusedPart(part.name, `part ${part.name} must occur only once`);
    }
    parts.push(part);
  }
  const boundary = createHash('sha256').update(body).digest('hex');
  const framed = parts.flatMap(({ headers, content }) => [
    Buffer.from([`--${boundary}`, ...headers, '', ''].join(lineEnd)),
    content,
    Buffer.from(lineEnd),
  ]);
  return {
    contentType: `multipart/form-data; boundary=${boundary}`,
    body: Buffer.concat([...framed, Buffer.from(`--${boundary}--${lineEnd}`)]),
  };
}

function boundaryOf(contentType: string): string {
  const header = parameterHeader(contentType);
  const boundary = header?.parameters.get('boundary');
  if (header?.value !== 'multipart/form-data' || boundary === undefined) {
    throw malformed('Content-Type must be multipart/form-data with one boundary');
  }
  if (!/^[\w'()+,\-./:=? ]{0,69}[\w'()+,\-./:=?]$/.test(boundary)) {
    throw malformed('the boundary of Content-Type must have 1 to 70 of the characters of RFC 2046');
  }
  return boundary;
}

function* sectionsOf(body: Buffer, boundary: string): Generator<Buffer> {
  const delimiter = Buffer.from(`${lineEnd}--${boundary}`);
  // A line end in front makes the first delimiter like all others.
  const form = Buffer.concat([Buffer.from(lineEnd), body]);
  let at = form.indexOf(delimiter);
  // One empty line before the first delimiter is legal and common.
  if (at !== 0 && form.toString('latin1', 0, at) !== lineEnd) {
    throw malformed('the multipart body must begin with the boundary of Content-Type');
  }
  for (let count = 1; ; count += 1) {
    const begin = at + delimiter.byteLength;
    at = form.indexOf(delimiter, begin);
    if (at === -1) {
      const rest = form.toString('latin1', begin);
      if (/^--[ \t]*(?:\r\n\s*)?$/.test(rest)) return;
      if (rest.startsWith('--')) throw malformed('the multipart body must not go on behind its closing boundary');
      throw malformed(`part ${count} is cut off before the closing boundary`);
    }
    yield form.subarray(begin, at);
  }
}

function partOf(section: Buffer, count: number): Part {
  const headersEnd = section.indexOf('\r\n\r\n');
  if (headersEnd === -1 || headersEnd > maxHeaderBytes) {
    throw malformed(`part ${count} must have headers of at most ${maxHeaderBytes} bytes and an empty line`);
  }
  const [padding = '', ...lines] = section.toString('utf8', 0, headersEnd).split(lineEnd);
  if (!/^[ \t]*$/.test(padding)) throw malformed(`part ${count} must begin on a line of its own`);
  const headers = headersOf(lines, count);

  const disposition = parameterHeader(headers.get('content-disposition') ?? '');
  const name = disposition?.parameters.get('name');
  if (disposition?.value !== 'form-data' || name === undefined || disposition.parameters.has('name*')) {
    throw malformed(`part ${count} must have the header Content-Disposition: form-data with a name`);
  }
  if (!/^(?:7bit|8bit|binary)$/i.test(headers.get('content-transfer-encoding') ?? 'binary')) {
    throw malformed(`part ${count} must not have a Content-Transfer-Encoding but binary`);
  }
  const typeText = headers.get('content-type') ?? 'application/octet-stream';
  const type = parameterHeader(typeText)?.value;
  if (type === undefined || !/^[!-~]+$/.test(type)) throw malformed(`part ${count} has a malformed Content-Type`);
  const fileName = disposition.parameters.get('filename');
  const fileNamePart = fileName === undefined ? '' : `; filename="${fileName.replace(/["\\]/g, '\\$&')}"`;
  return {
    name: name.slice(0, maxShownNameCharacters).toWellFormed(),
    headers: [`Content-Disposition: form-data; name="${name}"${fileNamePart}`, `Content-Type: ${type}`],
    content: section.subarray(headersEnd + 4),
  };
}

function headersOf(lines: readonly string[], count: number): Map<string, string> {
  const headers = new Map<string, string>();
  for (const line of lines) {
    const header = /^([!#$%&'*+.^`|~\w-]+):[ \t]*([^\r\n]*)$/.exec(line);
    const name = header?.[1]?.toLowerCase();
    if (name === undefined || headers.has(name)) throw malformed(`part ${count} has a malformed or repeated header`);
    headers.set(name, header?.[2]?.trimEnd() ?? '');
  }
  return headers;
}

interface ParameterHeader {
  readonly value: string;
  readonly parameters: ReadonlyMap<string, string>;
}

/**
 * Parses `value; name=text; name="text"`, with value and names in lower case. Returns undefined when malformed or when
 * a name repeats.
 */
function parameterHeader(header: string): ParameterHeader | undefined {
  const value = /^[ \t]*([^\s;,"]+)[ \t]*(?=;|$)/.exec(header);
  if (value === null) return undefined;
  const parameters = new Map<string, string>();
  const parameter = /;[ \t]*(?:([!#$%&'*+.^`|~\w-]+)=(?:"((?:[^"\\]|\\.)*)"|([^\s;"]+))[ \t]*)?(?=;|$)/y;
  parameter.lastIndex = value[0].length;
  while (parameter.lastIndex < header.length) {
    const found = parameter.exec(header);
    if (found === null) return undefined;
    const name = found[1]?.toLowerCase();
    if (name === undefined) continue;
    if (parameters.has(name)) return undefined;
    // Only these two are escapes: old browsers send the backslashes of a path as they are.
    parameters.set(name, found[3] ?? found[2]?.replace(/\\(["\\])/g, '$1') ?? '');
  }
  return { value: (value[1] ?? '').toLowerCase(), parameters };
}

function refusedPart(path: string, message: string): Refusal {
  return new Refusal('malformed_body', message, { errors: [{ path, message }] });
}

function malformed(message: string): Refusal {
  return new Refusal('malformed_body', message);
}

import { Refusal } from './refusal.ts';

/*
 * The parts of a multipart/form-data body (RFC 7578, RFC 2046 section 5.1) that is in memory as a whole. middy's parser
 * answers with values only: it drops parts without a usable name, guesses at malformed headers, and raises an error event
 * that nobody can listen to when a file part is cut off. What it has dropped or guessed cannot be refused afterwards, hence
 * a parser that does neither.
 */

export interface Part {
  readonly name: string;
  readonly fileName?: string;
  /** Lower case, without parameters; absent when the part does not tell. */
  readonly contentType?: string;
  /** A view into the body. */
  readonly content: Buffer;
}

const maxPartHeaderBytes = 8_192;
const maxShownNameCharacters = 80;

/** The boundary of a Content-Type value, quoted or not. Refuses with 400 another type and a boundary that RFC 2046 forbids. */
export function boundaryOf(contentType: string): string {
  const header = readParameters(contentType);
  const boundary = header?.parameters.get('boundary');
  if (header?.value !== 'multipart/form-data' || boundary === undefined) {
    throw malformed('Content-Type must be multipart/form-data with one boundary');
  }
  if (!/^[\w'()+,\-./:=? ]{0,69}[\w'()+,\-./:=?]$/.test(boundary)) {
    throw malformed('the boundary of Content-Type must have 1 to 70 of the characters of RFC 2046');
  }
  return boundary;
}

/** The parts one after another. Refuses with 400 at the first fault; bytes outside of parts and cut-off parts are faults. */
export function* partsOf(body: Buffer, boundary: string): Generator<Part> {
  const delimiter = Buffer.from(`\r\n--${boundary}`);
  // With a line end in front, the first delimiter looks like all others.
  const form = Buffer.concat([Buffer.from('\r\n'), body]);
  let at = form.indexOf(delimiter);
  // One empty line before the first delimiter is legal and common.
  if (at !== 0 && form.toString('latin1', 0, at) !== '\r\n') {
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
    yield partOf(form.subarray(begin, at), count);
  }
}

/** One part, from behind its delimiter to the next one. */
function partOf(section: Buffer, count: number): Part {
  const headersEnd = section.indexOf('\r\n\r\n');
  if (headersEnd === -1 || headersEnd > maxPartHeaderBytes) {
    throw malformed(`part ${count} must have headers of at most ${maxPartHeaderBytes} bytes and an empty line`);
  }
  const [padding = '', ...lines] = section.toString('utf8', 0, headersEnd).split('\r\n');
  if (!/^[ \t]*$/.test(padding)) throw malformed(`part ${count} must begin on a line of its own`);
  const headers = partHeaders(lines, count);

  const disposition = readParameters(headers.get('content-disposition') ?? '');
  const name = disposition?.parameters.get('name');
  if (disposition?.value !== 'form-data' || name === undefined) {
    throw malformed(`part ${count} must have the header Content-Disposition: form-data with a name`);
  }
  const encoding = headers.get('content-transfer-encoding') ?? 'binary';
  if (!/^(?:7bit|8bit|binary)$/i.test(encoding)) {
    throw malformed(`part ${count} must not have a Content-Transfer-Encoding but binary`);
  }
  const fileName = disposition.parameters.get('filename');
  const typeText = headers.get('content-type');
  const type = typeText === undefined ? undefined : readParameters(typeText)?.value;
  if (typeText !== undefined && type === undefined) throw malformed(`part ${count} has a malformed Content-Type`);
  return {
    name: name.slice(0, maxShownNameCharacters).toWellFormed(),
    ...(fileName === undefined ? {} : { fileName }),
    ...(type === undefined ? {} : { contentType: type }),
    content: section.subarray(headersEnd + 4),
  };
}

function partHeaders(lines: readonly string[], count: number): Map<string, string> {
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

/** `value; name=text; name="text"`, value and names in lower case; undefined when malformed or when a name is repeated. */
function readParameters(header: string): ParameterHeader | undefined {
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
    // Only these two are escapes: browsers of old send the backslashes of a path as they are.
    parameters.set(name, found[3] ?? found[2]?.replace(/\\(["\\])/g, '$1') ?? '');
  }
  return { value: (value[1] ?? '').toLowerCase(), parameters };
}

function malformed(message: string): Refusal {
  return new Refusal('malformed_body', message);
}

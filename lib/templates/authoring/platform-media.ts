import * as v from 'valibot';
import type { CredentialOf, PlatformCredential } from '../../platform/credentials.ts';
import { PlatformFailure } from '../../platform/failure.ts';
import type { PlatformReply, PlatformTransport } from '../../platform/transport.ts';

export interface MediaUpload {
  readonly bytes: Buffer;
  /** The bytes reveal it, such as `image/png`. */
  readonly type: string;
  readonly name: string;
}

/** An opened upload's id is a path, with a query where the platform signs it. */
const SessionSchema = v.object({ id: v.pipe(v.string(), v.regex(/^upload:[^\s#\\]+$/)) });
const OffsetSchema = v.object({ file_offset: v.pipe(v.number(), v.safeInteger(), v.minValue(0)) });
const HandleSchema = v.object({ h: v.pipe(v.string(), v.minLength(1)) });

/**
 * Uploads a file and returns the handle for `example.header_handle` (platform reference, 5.1). A broken upload resumes
 * once. Throws `PlatformFailure`; retries are safe, because an upload creates nothing.
 */
export function platformMedia(
  anyCall: PlatformTransport,
  credentialOf: CredentialOf,
): (credentialName: string, file: MediaUpload, timeLeftMs: () => number) => Promise<string> {
  return async (credentialName, file, timeLeftMs) => {
    const credential = await credentialOf(credentialName);
    const call: PlatformTransport = (each) => anyCall({ ...each, timeoutMs: timeLeftMs() });
    const session = await openSession(call, credential, file);
    try {
      return await sendFrom(call, { session, credential, bytes: file.bytes, offset: 0 });
    } catch (error) {
      if (!(error instanceof PlatformFailure) || !brokeOff(error)) throw error;
    }
    const offset = await offsetOf(call, session, credential);
    if (offset > file.bytes.byteLength) throw notUnderstood('an offset behind the end of the file');
    return sendFrom(call, { session, credential, bytes: file.bytes, offset });
  };
}

async function openSession(
  call: PlatformTransport,
  { accessToken, appId }: PlatformCredential,
  { bytes, type, name }: MediaUpload,
): Promise<string> {
  const query = { file_name: name, file_length: String(bytes.byteLength), file_type: type };
  const reply = await call({ method: 'POST', path: `${appId}/uploads`, query, accessToken, authorization: 'OAuth' });
  return read(SessionSchema, reply).id;
}

interface Piece {
  readonly session: string;
  readonly credential: PlatformCredential;
  readonly bytes: Buffer;
  readonly offset: number;
}

async function sendFrom(call: PlatformTransport, { session, credential, bytes, offset }: Piece): Promise<string> {
  const reply = await call({
    method: 'POST',
    path: session,
    headers: { file_offset: String(offset) },
    body: bytes.subarray(offset),
    accessToken: credential.accessToken,
    authorization: 'OAuth',
  });
  return read(HandleSchema, reply).h;
}

async function offsetOf(call: PlatformTransport, session: string, credential: PlatformCredential): Promise<number> {
  const reply = await call({
    method: 'GET',
    path: session,
    accessToken: credential.accessToken,
    authorization: 'OAuth',
  });
  return read(OffsetSchema, reply).file_offset;
}

/** The connection ended without an answer: some bytes may have arrived. */
function brokeOff({ kind, facts }: PlatformFailure): boolean {
  return kind === 'ambiguous' && facts.httpStatus === undefined;
}

function read<const S extends v.GenericSchema>(schema: S, reply: PlatformReply): v.InferOutput<S> {
  const parsed = v.safeParse(schema, reply.body);
  if (!parsed.success) throw notUnderstood('an answer to an upload that is none');
  return parsed.output;
}

function notUnderstood(reason: string): PlatformFailure {
  return new PlatformFailure('ambiguous', { httpStatus: 200, cause: new Error(reason) });
}

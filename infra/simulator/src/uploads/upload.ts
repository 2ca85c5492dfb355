import * as v from 'valibot';
import { graphError, unknownNode } from '../errors.ts';
import { parsedParameters } from '../parameters.ts';
import type { PlatformRequest } from '../platform-request.ts';
import { json, type Reply } from '../reply.ts';
import type { SeedToken } from '../seed.ts';
import type { UploadSession, UploadStore } from './upload-store.ts';

const megabyte = 1_024 * 1_024;

/**
 * Uploads take these types up to these sizes (platform reference, 5.1 and 5.3). 3GPP is missing in 5.1, but headers
 * take it (3.3), and they take only uploads.
 */
const mostBytes = {
  'application/pdf': 100 * megabyte,
  'image/jpeg': 5 * megabyte,
  'image/jpg': 5 * megabyte,
  'image/png': 5 * megabyte,
  'video/mp4': 16 * megabyte,
  'video/3gpp': 16 * megabyte,
} as const;
type FileType = keyof typeof mostBytes;

export const longestUploadBytes = 100 * megabyte;

const OpeningSchema = v.strictObject({
  file_name: v.optional(v.pipe(v.string(), v.nonEmpty())),
  file_length: v.pipe(v.union([v.number(), v.string()]), v.transform(Number), v.integer(), v.minValue(1)),
  file_type: v.picklist(Object.keys(mostBytes) as FileType[]),
  session_type: v.optional(v.literal('attachment')),
});

/**
 * Answers a resumable upload (platform reference, 5.1): `POST /{app_id}/uploads`, `POST /upload:...` and `GET
 * /upload:...`; a session belongs to the token's app. Returns undefined for any other request.
 */
export function answerUpload(
  uploads: UploadStore,
  call: { readonly token: SeedToken; readonly nodeId: string; readonly operation: string },
  request: PlatformRequest,
): Reply | undefined {
  const { token, nodeId, operation } = call;
  if (nodeId === token.app_id && operation === 'POST uploads') return openUpload(uploads, token.app_id, request);
  if (!nodeId.startsWith('upload:')) return undefined;
  const session = uploads.get(nodeId);
  if (session === undefined || session.appId !== token.app_id) throw unknownNode(request.method, nodeId);
  if (operation === 'GET') return json(progressOf(session));
  if (operation === 'POST') return continueUpload(uploads, session, request);
  throw unknownNode(request.method, nodeId);
}

function openUpload(uploads: UploadStore, appId: string, request: PlatformRequest): Reply {
  const given = parsedParameters(OpeningSchema, request.parameters);
  const most = mostBytes[given.file_type];
  if (given.file_length > most) {
    throw graphError(100, `(#100) Param file_length must be at most ${most} for ${given.file_type}.`);
  }
  const session = uploads.open({ appId, fileType: given.file_type, fileLength: given.file_length });
  return json({ id: session.id });
}

/** An interrupted upload can go on from the received bytes; a complete one returns its handle. */
function continueUpload(uploads: UploadStore, session: UploadSession, request: PlatformRequest): Reply {
  if (request.fileOffset === undefined) throw graphError(100, '(#100) The header file_offset is required.');
  if (request.fileOffset !== String(session.received)) {
    throw graphError(100, `(#100) Header file_offset must be ${session.received} - got ${request.fileOffset}.`);
  }
  if (session.received + request.bytes.byteLength > session.fileLength) {
    throw graphError(100, `(#100) More bytes than the file_length of ${session.fileLength}.`);
  }
  const handle = uploads.append(session, request.bytes);
  return json(handle === undefined ? progressOf(session) : { h: handle });
}

function progressOf(session: UploadSession) {
  return { id: session.id, file_offset: session.received };
}

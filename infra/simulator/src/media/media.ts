import * as v from 'valibot';
import { graphError, messagingError, unknownNode } from '../errors.ts';
import { parsedParameters } from '../parameters.ts';
import type { PlatformRequest } from '../platform-request.ts';
import { json, type Reply } from '../reply.ts';
import type { World } from '../state.ts';
import type { PhoneNumber } from '../wabas.ts';
import type { Medium } from './media-store.ts';

const megabyte = 1_024 * 1_024;
const minuteMs = 60_000;
const keptMs = 30 * 24 * 60 * minuteMs;
const addressMs = 5 * minuteMs;

const office = 'application/vnd.openxmlformats-officedocument';

/** Messages take these media types up to these sizes (platform reference, 5.3). */
const mostBytes: Readonly<Record<string, number>> = {
  'image/jpeg': 5 * megabyte,
  'image/png': 5 * megabyte,
  'image/webp': 500 * 1_024,
  'video/mp4': 16 * megabyte,
  'video/3gpp': 16 * megabyte,
  'audio/aac': 16 * megabyte,
  'audio/amr': 16 * megabyte,
  'audio/mpeg': 16 * megabyte,
  'audio/mp4': 16 * megabyte,
  'audio/ogg': 16 * megabyte,
  'text/plain': 100 * megabyte,
  'application/pdf': 100 * megabyte,
  'application/msword': 100 * megabyte,
  'application/vnd.ms-excel': 100 * megabyte,
  'application/vnd.ms-powerpoint': 100 * megabyte,
  [`${office}.wordprocessingml.document`]: 100 * megabyte,
  [`${office}.spreadsheetml.sheet`]: 100 * megabyte,
  [`${office}.presentationml.presentation`]: 100 * megabyte,
};

const UploadSchema = v.object({
  messaging_product: v.literal('whatsapp'),
  type: v.optional(v.string()),
  ttl_minutes: v.optional(v.pipe(v.number(), v.integer(), v.minValue(1))),
});

/** Answers `POST /{phone_number_id}/media`, a form with the file (platform reference, 5.2). */
export function uploadMedium(world: World, number: PhoneNumber, request: PlatformRequest): Reply {
  const given = parsedParameters(UploadSchema, request.parameters);
  const { file } = request;
  if (file === undefined) throw graphError(100, '(#100) The parameter file is required.');
  const type = (file.type.split(';')[0] || given.type || '').trim();
  const most = mostBytes[type];
  if (most === undefined) throw messagingError(131053, `files of type ${type || 'unknown'} are not supported`);
  if (file.bytes.byteLength > most) throw messagingError(131053, `${type}: at most ${most} bytes`);
  const lifeMs = given.ttl_minutes === undefined ? keptMs : given.ttl_minutes * minuteMs;
  const endsMs = world.clock.nowMs() + lifeMs;
  return json({ id: world.media.add({ numberId: number.id, type, bytes: file.bytes, endsMs }).id });
}

/** Answers `GET /{media_id}`; a given `phone_number_id` must own the medium. */
export function readMedium(world: World, medium: Medium, request: PlatformRequest): Reply {
  requireNumber(medium, request);
  const ends = Math.floor((world.clock.nowMs() + addressMs) / 1_000);
  return json({
    messaging_product: 'whatsapp',
    url: `${new URL(request.self).origin}/${downloads}/${medium.id}?ext=${ends}`,
    mime_type: medium.type,
    sha256: medium.sha256,
    file_size: medium.bytes.byteLength,
    id: medium.id,
  });
}

/** Answers `DELETE /{media_id}`. */
export function deleteMedium(world: World, medium: Medium, request: PlatformRequest): Reply {
  requireNumber(medium, request);
  world.media.remove(medium.id);
  return json({ success: true });
}

/** The download path begins with this. */
export const downloads = '_media';

/** Answers a download for 5 minutes after its address was given. The token must reach the number's WABA. */
export function downloadMedium(world: World, medium: Medium, request: PlatformRequest): Reply {
  const endsMs = Number(request.query.get('ext') ?? 0) * 1_000;
  if (endsMs < world.clock.nowMs()) throw unknownNode(request.method, medium.id);
  return { kind: 'bytes', status: 200, type: medium.type, bytes: medium.bytes };
}

function requireNumber(medium: Medium, request: PlatformRequest): void {
  const wanted = request.parameters['phone_number_id'];
  if (wanted !== undefined && wanted !== medium.numberId) throw unknownNode(request.method, medium.id);
}

import { createHash } from 'node:crypto';
import * as v from 'valibot';
import { graphError } from './errors.ts';
import { type NodeShape, selection } from './fields.ts';
import { parsedParameters } from './parameters.ts';
import type { PlatformRequest } from './platform-request.ts';
import { json, type Reply } from './reply.ts';
import type { World } from './state.ts';
import type { PhoneNumber } from './wabas.ts';

const verticals = [
  'UNDEFINED',
  'OTHER',
  'AUTO',
  'BEAUTY',
  'APPAREL',
  'EDU',
  'ENTERTAIN',
  'EVENT_PLAN',
  'FINANCE',
  'GROCERY',
  'GOVT',
  'HOTEL',
  'HEALTH',
  'NONPROFIT',
  'PROF_SERVICES',
  'RETAIL',
  'TRAVEL',
  'RESTAURANT',
  'ALCOHOL',
  'ONLINE_GAMBLING',
  'PHYSICAL_GAMBLING',
  'OTC_DRUGS',
  'MATRIMONY_SERVICE',
  'NOT_A_BIZ',
] as const;

const text = (most: number) => v.optional(v.pipe(v.string(), v.maxLength(most)));
const ProfileSchema = v.strictObject({
  messaging_product: v.literal('whatsapp'),
  about: text(139),
  address: text(256),
  description: text(512),
  email: text(128),
  websites: v.optional(v.pipe(v.array(v.pipe(v.string(), v.maxLength(256))), v.maxLength(2))),
  vertical: v.optional(v.union([v.picklist(verticals), v.literal('')])),
  profile_picture_handle: v.optional(v.string()),
});

const names = ['about', 'address', 'description', 'email', 'profile_picture_url', 'websites', 'vertical'];
const shape: NodeShape = {
  type: 'WhatsAppBusinessProfile',
  byDefault: [...names, 'messaging_product'],
  known: [...names, 'messaging_product'],
};

/** Answers `GET /{phone_number_id}/whatsapp_business_profile` (platform reference, 8). */
export function readProfile(world: World, number: PhoneNumber, request: PlatformRequest): Reply {
  const select = selection(request.query.get('fields'), shape);
  const profile = { vertical: 'UNDEFINED', ...world.profiles.get(number.id), messaging_product: 'whatsapp' };
  return json({ data: [select(profile)] });
}

/**
 * Answers `POST /{phone_number_id}/whatsapp_business_profile`: a given field replaces the old one; empty text removes
 * it.
 */
export function changeProfile(world: World, number: PhoneNumber, request: PlatformRequest): Reply {
  const {
    messaging_product: _,
    profile_picture_handle: handle,
    ...given
  } = parsedParameters(ProfileSchema, request.parameters);
  if (handle !== undefined && world.uploads.mediumOf(handle) === undefined) {
    throw graphError(100, '(#100) Param profile_picture_handle is not the handle of a completed upload.');
  }
  const picture = handle === undefined ? {} : { profile_picture_url: pictureAddress(handle) };
  const profile = Object.entries({ ...world.profiles.get(number.id), ...given, ...picture });
  world.profiles.set(number.id, Object.fromEntries(profile.filter(([, value]) => value !== '')));
  return json({ success: true });
}

function pictureAddress(handle: string): string {
  return `https://pps.example.com/v/t61/${createHash('sha256').update(handle).digest('hex').slice(0, 16)}`;
}

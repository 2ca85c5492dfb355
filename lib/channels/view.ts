import * as v from 'valibot';
import { documentedAs, wholeNumber } from '../http/documented.ts';
import type { ListedChannel } from './channel.ts';

/** Unknown values, and a missing name, are null. */
const fieldValues = {
  wa_id: (channel) => channel.waId,
  client_id: (channel) => channel.clientId,
  client_name: (channel) => channel.clientName,
  waba_id: (channel) => channel.wabaId,
  waba_name: (channel) => channel.wabaName,
  status: (channel) => channel.status,
  business_id: (channel) => channel.businessId,
  business_name: (channel) => channel.businessName,
  current_limit: (channel) => channel.currentLimit,
  quality_rating: (channel) => channel.qualityRating,
  // The platform has one id for a number; the contract has two names for it.
  phone_id: (channel) => channel.phoneNumberId,
  phone_number_id: (channel) => channel.phoneNumberId,
  is_on_biz_app: (channel) => channel.isOnBizApp,
  phone_code: (channel) => channel.phoneCode,
  phone_number: (channel) => channel.phoneNumber,
  create_at: (channel) => channel.createdAt,
  create_by: (channel) => channel.createdBy,
  register_at: (channel) => channel.registeredAt,
  external_webhook: (channel) => channel.externalWebhook,
  // Beyond the contract, these are the names that assignments, documents and paths use (D50).
  channel_id: (channel) => channel.channelId,
  did: (channel) => channel.waId,
  name: (channel) => channel.name,
} as const satisfies Record<string, (channel: ListedChannel) => string | number | boolean | undefined>;

export type ChannelField = keyof typeof fieldValues;
const channelFields = Object.keys(fieldValues) as readonly ChannelField[];

const unknownYet = <const S extends v.GenericSchema>(schema: S) => v.optional(v.nullable(schema));

/** A channel has the requested fields, in the order of the request. */
export const ChannelSchema = v.pipe(
  v.record(v.picklist(channelFields), v.nullable(v.union([v.string(), v.number(), v.boolean()]))),
  documentedAs(() =>
    v.object({
      wa_id: v.optional(v.string()),
      client_id: v.optional(wholeNumber),
      client_name: v.optional(v.string()),
      waba_id: v.optional(v.string()),
      waba_name: v.optional(v.string()),
      status: v.optional(v.string()),
      business_id: v.optional(v.string()),
      business_name: v.optional(v.string()),
      current_limit: unknownYet(v.string()),
      quality_rating: unknownYet(v.string()),
      phone_id: v.optional(v.string()),
      phone_number_id: v.optional(v.string()),
      is_on_biz_app: unknownYet(v.boolean()),
      phone_code: unknownYet(v.string()),
      phone_number: unknownYet(v.string()),
      create_at: v.optional(v.string()),
      create_by: v.optional(v.string()),
      register_at: unknownYet(v.string()),
      external_webhook: unknownYet(v.string()),
      channel_id: v.optional(wholeNumber),
      did: v.optional(v.string()),
      name: unknownYet(v.string()),
    } satisfies Record<ChannelField, v.GenericSchema>),
  ),
);

const defaultFields = [
  'wa_id',
  'client_id',
  'client_name',
  'waba_id',
  'waba_name',
  'status',
  'business_id',
  'business_name',
] as const satisfies readonly ChannelField[];

/** Returns the known requested fields, once each and in their order; the default ones when none is known (D8). */
export function appliedFields(names: readonly string[] = []): readonly ChannelField[] {
  const known = [...new Set(names)].filter((name): name is ChannelField => Object.hasOwn(fieldValues, name));
  return known.length === 0 ? defaultFields : known;
}

export function channelView(
  channel: ListedChannel,
  fields: readonly ChannelField[],
): Partial<Record<ChannelField, string | number | boolean | null>> {
  return Object.fromEntries(fields.map((field) => [field, fieldValues[field](channel) ?? null]));
}

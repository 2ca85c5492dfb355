import * as v from 'valibot';
import { ServiceEventSchema } from '../../webhooks/event.ts';
import { type PersonIds, spells } from './person.ts';

/** An event about a message keeps these fields: no other field is known to be nameless. */
const kept = [
  ...['dispatch_id', 'message_id', 'did', 'template', 'campaign_id', 'attends', 'code', 'platform_code', 'pricing'],
  ...['accepted_at', 'by', 'button_index', 'card_index', 'replied_at'],
];

/**
 * Returns a stored event without the person; `gone` if nothing useful is left, undefined without the person. Events
 * about messages stay, because their client must learn the outcome.
 */
export function anonymizedEvent(text: string, ids: PersonIds): { readonly event: string } | 'gone' | undefined {
  if (!spells(ids, text)) return undefined;
  const { data, ...event } = JSON.parse(text) as {
    readonly type: string;
    readonly data: Readonly<Record<string, unknown>>;
  };
  const entries = Object.entries(data).filter(([field, value]) => {
    if (field === 'attends') return !spells(ids, JSON.stringify(value));
    return !event.type.startsWith('message.') || kept.includes(field);
  });
  const left = { ...event, data: Object.fromEntries(entries) };
  const leftText = JSON.stringify(left);
  return spells(ids, leftText) || !v.is(ServiceEventSchema, left) ? 'gone' : { event: leftText };
}

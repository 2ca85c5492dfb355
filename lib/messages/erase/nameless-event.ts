import * as v from 'valibot';
import { ServiceEventSchema } from '../../webhooks/event.ts';
import { type PersonIds, spells } from './person.ts';

/** What an event about a message keeps: of other fields none is known not to name the person. */
const kept = [
  ...['job_id', 'message_id', 'did', 'template', 'campaign_id', 'attends', 'code', 'platform_code', 'pricing'],
  ...['accepted_at', 'by', 'button_index', 'card_index', 'replied_at'],
];

/**
 * What becomes of the text of an event that is kept for sending it again, or that waits for a receiver. One about a message stays,
 * without the person, for its client is to know how that ended; `gone` where nothing is left to tell. Undefined: it does not spell
 * the person.
 */
export function eventWithout(text: string, ids: PersonIds): { readonly event: string } | 'gone' | undefined {
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

import type { Person } from '../people.ts';
import { type AcceptedMessage, contactOf } from './receipts.ts';
import type { NodeUpdate } from './update.ts';

const details = {
  stop: 'User requested to stop marketing messages',
  resume: 'User requested to resume marketing messages',
  signup: 'User signed up via signup link',
} as const;

const signupId = '800000000000001';

export type PreferenceValue = keyof typeof details;

/** Tells a person's choice about marketing messages of a number by the webhook `user_preferences` (10.5). */
export function preferenceUpdate(
  { wabaId, metadata }: Pick<AcceptedMessage, 'wabaId' | 'metadata'>,
  person: Person,
  { value, atMs }: { readonly value: PreferenceValue; readonly atMs: number },
): NodeUpdate {
  const contact = contactOf(person);
  const preference = {
    ...contact,
    detail: details[value],
    category: 'marketing_messages',
    value,
    ...(value === 'signup' ? { signup_id: signupId } : {}),
    timestamp: Math.floor(atMs / 1_000),
  };
  return {
    kind: 'node',
    wabaId,
    field: 'user_preferences',
    value: {
      messaging_product: 'whatsapp',
      metadata,
      contacts: [{ profile: profileOf(person), ...contact }],
      user_preferences: [preference],
    },
  };
}

/** Returns the profile of a person; a hidden number is not part of the name. */
export function profileOf({ key, userId, username, hidesNumber }: Person) {
  const name = hidesNumber === true ? (username ?? userId) : key;
  return { name: `Recipient ${name}`, username };
}

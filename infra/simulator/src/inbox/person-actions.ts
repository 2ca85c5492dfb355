import * as v from 'valibot';
import { ControlError } from '../control-error.ts';
import type { World } from '../state.ts';
import { preferenceUpdate } from '../webhooks/preference-update.ts';
import { contactOf } from '../webhooks/receipts.ts';
import { businessNumber, personOf } from './incoming.ts';

/* These acts have no message; a webhook tells them where the platform does. */

const RecipientSchema = v.pipe(
  v.strictObject({
    blocked: v.optional(v.boolean()),
    username: v.optional(
      v.nullable(v.pipe(v.string(), v.regex(/^[a-z0-9._]{3,30}$/, 'must be 3 to 30 of a-z, 0-9, . and _'))),
    ),
  }),
  v.check(({ blocked, username }) => blocked !== undefined || username !== undefined, 'must say at least one thing'),
);

/** Changes whether a person blocks the business: later messages are then sent but never delivered. */
export function changeRecipient(world: World, to: string, body: unknown): unknown {
  const { blocked, username } = v.parse(RecipientSchema, body);
  if (blocked === true) world.blocked.add(to);
  if (blocked === false) world.blocked.delete(to);
  if (username !== undefined) world.people.adopt(to, username ?? undefined);
  return { to, blocked: world.blocked.has(to), username: world.people.usernameOf(to) ?? null };
}

/** The platform retries a webhook for as long. */
const latestSeconds = 7 * 24 * 3_600;

const PreferenceSchema = v.pipe(
  v.strictObject({
    phone_number_id: v.string(),
    value: v.picklist(['stop', 'resume', 'signup']),
    answer: v.optional(v.picklist(['failed', 'refused'])),
    told_in_seconds: v.optional(v.nullable(v.pipe(v.number(), v.minValue(0), v.maxValue(latestSeconds))), 0),
    copies: v.optional(v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(10)), 1),
  }),
  v.forward(
    v.check(({ value, answer }) => value === 'stop' || answer === undefined, 'goes with stop alone'),
    ['answer'],
  ),
);

/** A stop counts at once, however late the webhook comes. */
export function changePreference(world: World, id: string, body: unknown): unknown {
  const given = v.parse(PreferenceSchema, body);
  const { phone_number_id: numberId, value, answer = 'failed', told_in_seconds: toldIn, copies } = given;
  const number = businessNumber(world, numberId);
  const person = personOf(world, number.viewer, id);
  const nowMs = world.clock.nowMs();
  if (value === 'stop') world.preferences.stop(person.userId, { numberId, to: person.key, sinceMs: nowMs, answer });
  else world.preferences.resume(person.userId, numberId);
  world.personActs.add({
    ...{ kind: value, person: person.key, phone_number_id: numberId },
    ...{ text: '', at_ms: nowMs, message: null },
  });
  const update = preferenceUpdate(number, person, { value, atMs: nowMs });
  if (toldIn !== null) for (let copy = 0; copy < copies; copy += 1) world.outbox.add(update, nowMs + toldIn * 1_000);
  return { to: person.key, user_id: person.userId, phone_number_id: numberId, value };
}

const ThreadSchema = v.strictObject({ phone_number_id: v.string(), owner: v.picklist(['other', 'none']) });

export function changeThread(world: World, id: string, body: unknown): unknown {
  const { phone_number_id: numberId, owner } = v.parse(ThreadSchema, body);
  const { key } = personOf(world, businessNumber(world, numberId).viewer, id);
  if (owner === 'other') world.threads.own(numberId, key, world.clock.nowMs());
  else world.threads.release(numberId, key);
  return { to: key, phone_number_id: numberId, owner };
}

const IdentitySchema = v.pipe(
  v.strictObject({
    phone_number_id: v.string(),
    number: v.optional(v.pipe(v.string(), v.regex(/^\d{5,15}$/, 'must be digits'))),
    told_as: v.optional(v.picklist(['user_changed_user_id', 'user_changed_number']), 'user_changed_user_id'),
    old_id: v.optional(v.picklist(['failed', 'refused']), 'failed'),
    form: v.optional(v.picklist(['2026-08', '2026-06']), '2026-08'),
  }),
  v.forward(
    v.check(
      ({ told_as: form, number }) => form === 'user_changed_user_id' || number !== undefined,
      'is told of a number that changes',
    ),
    ['told_as'],
  ),
);

/**
 * Gives a new user id, and number if given; a system message tells it (platform reference, 10.5), in the form of that
 * month: the later one has fields for the ids of before.
 */
export function changeIdentity(world: World, id: string, body: unknown): unknown {
  const given = v.parse(IdentitySchema, body);
  const { phone_number_id: numberId, number, told_as: type, old_id: oldIds, form } = given;
  const { wabaId, metadata, viewer } = businessNumber(world, numberId);
  const before = personOf(world, viewer, id);
  if (!/^\d/.test(before.key)) throw new ControlError(400, 'id', `${id} is a person whose number is not known`);
  world.people.renew(before.key, { number, oldIds });
  world.preferences.forget(before.key);
  const atMs = world.clock.nowMs();
  const after = world.people.withNumber(viewer, number ?? before.key, atMs);
  const { wa_id, user_id, parent_user_id } = contactOf(after);
  const was = contactOf(before);
  const ofNumber = type === 'user_changed_number';
  const older = ofNumber ? {} : { user_id, parent_user_id };
  const { user_id: previous_user_id, parent_user_id: previous_parent_user_id } = was;
  const later = { user_id, previous_user_id, parent_user_id, previous_parent_user_id };
  const [old, now] = ofNumber ? [was.wa_id, wa_id] : [was.user_id, user_id];
  const system = {
    body: `User changed from ${old} to ${now}`,
    wa_id,
    ...(form === '2026-08' ? later : older),
    type,
  };
  const message = {
    from: was.wa_id,
    id: `wamid.${Buffer.from(`${numberId} ${user_id} ${atMs}`).toString('base64')}`,
    timestamp: String(Math.floor(atMs / 1_000)),
    type: 'system',
    system,
  };
  const value = { messaging_product: 'whatsapp', metadata, messages: [message] };
  world.outbox.add({ kind: 'node', wabaId, field: 'messages', value }, atMs);
  return { to: after.key, user_id, old_user_id: was.user_id };
}

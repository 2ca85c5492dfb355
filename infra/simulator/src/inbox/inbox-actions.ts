import * as v from 'valibot';
import { ControlError } from '../control-error.ts';
import { isKnownCode } from '../errors.ts';
import type { Entry } from '../logs.ts';
import type { World } from '../state.ts';
import { laterStatus } from '../webhooks/receipts.ts';
import { rowOf, viewOf } from './inbox-list.ts';
import { businessNumber, personOf, planIncoming } from './incoming.ts';
import { contentOfReply, kindOf, ReplySchema } from './reply.ts';

const StatusSchema = v.pipe(
  v.strictObject({
    status: v.picklist(['sent', 'delivered', 'read', 'failed']),
    code: v.optional(v.pipe(v.number(), v.integer(), v.check(isKnownCode, 'is not a code of the platform'))),
    in_seconds: v.optional(v.pipe(v.number(), v.minValue(0), v.maxValue(30 * 24 * 3_600)), 0),
  }),
  v.forward(
    v.check(({ status, code }) => (status === 'failed') === (code !== undefined), 'goes with failed, and only with it'),
    ['code'],
  ),
);
const PlaceSchema = v.pipe(v.number(), v.integer(), v.minValue(0));
const TapSchema = v.strictObject({
  button: PlaceSchema,
  card: v.optional(PlaceSchema),
  has_context: v.optional(v.boolean(), true),
});
const WrittenSchema = v.strictObject({
  phone_number_id: v.string(),
  text: v.pipe(v.string(), v.nonEmpty('must not be empty'), v.maxLength(4_096)),
});

export function messageOf(world: World, id: string): Entry {
  const entry = world.messages.get(id);
  if (entry === undefined) throw new ControlError(404, 'id', `${id} is no message`);
  return entry;
}

export function addStatus(world: World, entry: Entry, body: unknown): unknown {
  const { status, code, in_seconds: seconds } = v.parse(StatusSchema, body);
  const told = { status, at_ms: world.clock.nowMs() + seconds * 1_000, code };
  world.outbox.add(laterStatus(entry.accepted, told), told.at_ms);
  world.messages.tell(entry, { told });
  return rowOf(messageOf(world, entry.message.id));
}

/** Plans the recipient's reply: an incoming message in the webhook field `messages`. */
export function replyTo(world: World, entry: Entry, body: unknown): unknown {
  const reply = v.parse(ReplySchema, body);
  const { metadata, recipient } = entry.accepted;
  const atMs = world.clock.nowMs();
  const id = `${entry.message.id.replace(/=*$/, '')}R${entry.replies.length + 1}`;
  const context = { context: { from: metadata.display_phone_number, id: entry.message.id } };
  const to = businessNumber(world, metadata.phone_number_id);
  const said = { ...(reply.has_context ? context : {}), id, ...contentOfReply(reply) };
  planIncoming(world, to, personOf(world, to.viewer, recipient.key), said);
  world.messages.tell(entry, {
    reply: { id, text: reply.text, at_ms: atMs, payload: reply.payload },
  });
  world.personActs.add({
    ...{ kind: kindOf(reply), person: recipient.key, phone_number_id: metadata.phone_number_id },
    ...{ text: reply.text, at_ms: atMs, message: entry.message.id },
  });
  return rowOf(messageOf(world, entry.message.id));
}

/** The reply carries the send's payload, or else the label. */
export function tapButton(world: World, entry: Entry, body: unknown): unknown {
  const { button: place, card, has_context } = v.parse(TapSchema, body);
  const view = viewOf(entry);
  const button = (card === undefined ? view : view.cards[card])?.buttons[place];
  if (button?.kind !== 'quick_reply') throw new ControlError(400, 'button', 'there is no quick reply at that place');
  return replyTo(world, entry, { text: button.text, payload: button.value, has_context });
}

export function writeTo(world: World, personId: string, body: unknown): unknown {
  const { phone_number_id: numberId, text } = v.parse(WrittenSchema, body);
  const to = businessNumber(world, numberId);
  const from = personOf(world, to.viewer, personId);
  const id = `wamid.${Buffer.from(`${numberId} ${from.key} ${world.people.written}`).toString('base64')}`;
  planIncoming(world, to, from, { id, type: 'text', text: { body: text } });
  world.personActs.add({
    ...{ kind: 'text', person: from.key, phone_number_id: numberId, text },
    ...{ at_ms: world.clock.nowMs(), message: null },
  });
  return { id, user_id: from.userId };
}

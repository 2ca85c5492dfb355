import * as v from 'valibot';
import { ControlError } from '../control-error.ts';
import { isKnownCode } from '../errors.ts';
import type { Entry } from '../logs.ts';
import type { World } from '../state.ts';
import { laterStatus } from '../webhooks/receipts.ts';
import { rowOf } from './inbox-list.ts';

/*
 * What a recipient does with a message, and the platform later: told by webhook as the real ones are.
 */

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
const ReplySchema = v.strictObject({
  text: v.pipe(v.string(), v.nonEmpty('must not be empty'), v.maxLength(4_096)),
  /** Given: a quick reply's button was pressed, whose label is the text. */
  payload: v.optional(v.pipe(v.string(), v.maxLength(1_000))),
});
const RecipientSchema = v.strictObject({ blocked: v.boolean() });

export function messageOf(world: World, id: string): Entry {
  const entry = world.messages.get(id);
  if (entry === undefined) throw new ControlError(404, 'id', `${id} is no message`);
  return entry;
}

/** Plans one more status of a message. */
export function tellStatus(world: World, entry: Entry, body: unknown): unknown {
  const { status, code, in_seconds: seconds } = v.parse(StatusSchema, body);
  const told = { status, at_ms: world.clock.nowMs() + seconds * 1_000, ...(code === undefined ? {} : { code }) };
  world.outbox.add(laterStatus(entry.accepted, told), told.at_ms);
  world.messages.tell(entry, { told });
  return rowOf(messageOf(world, entry.message.id));
}

/** Has the recipient answer: an incoming message in the webhook field `messages`. */
export function replyTo(world: World, entry: Entry, body: unknown): unknown {
  const { text, payload } = v.parse(ReplySchema, body);
  const { wabaId, metadata, recipient } = entry.accepted;
  const atMs = world.clock.nowMs();
  const id = `${entry.message.id.replace(/=*$/, '')}R${entry.replies.length + 1}`;
  const said =
    payload === undefined ? { type: 'text', text: { body: text } } : { type: 'button', button: { text, payload } };
  const who = recipient.scopedUser ? { user_id: recipient.key } : { wa_id: recipient.key };
  const value = {
    messaging_product: 'whatsapp',
    metadata,
    contacts: [{ profile: { name: `Recipient ${recipient.key}` }, ...who }],
    messages: [
      {
        context: { from: metadata.display_phone_number, id: entry.message.id },
        from: recipient.key,
        id,
        timestamp: String(Math.floor(atMs / 1_000)),
        ...said,
      },
    ],
  };
  world.outbox.add({ kind: 'node', wabaId, field: 'messages', value }, atMs);
  world.messages.tell(entry, { reply: { id, text, at_ms: atMs } });
  return rowOf(messageOf(world, entry.message.id));
}

/** Whoever has blocked the business gets nothing more: later messages are sent and never delivered. */
export function changeRecipient(world: World, to: string, body: unknown): unknown {
  const { blocked } = v.parse(RecipientSchema, body);
  if (blocked) world.blocked.add(to);
  else world.blocked.delete(to);
  return { to, blocked };
}

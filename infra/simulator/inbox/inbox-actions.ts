import * as v from 'valibot';
import { present } from '../../../lib/keys/present.ts';
import { ControlError } from '../control-error.ts';
import { isKnownCode } from '../errors.ts';
import type { Entry } from '../logs.ts';
import type { Person } from '../people.ts';
import type { World } from '../state.ts';
import { portfolioIdOf } from '../wabas.ts';
import { type AcceptedMessage, contactOf, laterStatus } from '../webhooks/receipts.ts';
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
const WrittenSchema = v.strictObject({
  phone_number_id: v.string(),
  text: v.pipe(v.string(), v.nonEmpty('must not be empty'), v.maxLength(4_096)),
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
  const context = { from: metadata.display_phone_number, id: entry.message.id };
  tellIncoming(world, { wabaId, metadata, from: recipient }, { context, id, ...said });
  world.messages.tell(entry, { reply: { id, text, at_ms: atMs } });
  return rowOf(messageOf(world, entry.message.id));
}

/** Has a person write to a number by themselves. */
export function writeTo(world: World, digits: string, body: unknown): unknown {
  const { phone_number_id: numberId, text } = v.parse(WrittenSchema, body);
  if (!/^\d{5,15}$/.test(digits)) throw new ControlError(400, 'id', `${digits} is no phone number`);
  const number = world.numbers.get(numberId);
  const waba = world.wabas.get(number?.wabaId ?? '');
  if (number === undefined || waba === undefined) {
    throw new ControlError(400, 'phone_number_id', `${numberId} is no phone number of the business`);
  }
  const written = world.people.written;
  const id = `wamid.${Buffer.from(`${numberId} ${digits} ${written}`).toString('base64')}`;
  const from = { key: digits, userId: world.people.userIdOf(portfolioIdOf(waba), digits) };
  const metadata = { display_phone_number: number.digits, phone_number_id: number.id };
  tellIncoming(world, { wabaId: waba.id, metadata, from }, { id, type: 'text', text: { body: text } });
  return { id, user_id: from.userId };
}

interface Correspondence extends Pick<AcceptedMessage, 'wabaId' | 'metadata'> {
  readonly from: Person;
}

/** Tells a message of a person by webhook; the business may write freely to them from now on. */
function tellIncoming(world: World, { wabaId, metadata, from: person }: Correspondence, message: object): void {
  const atMs = world.clock.nowMs();
  const contact = contactOf(person);
  const value = {
    messaging_product: 'whatsapp',
    metadata,
    contacts: [{ profile: { name: `Recipient ${person.key}` }, ...contact }],
    messages: [
      {
        ...present({ from: contact.wa_id }),
        from_user_id: contact.user_id,
        timestamp: String(Math.floor(atMs / 1_000)),
        ...message,
      },
    ],
  };
  world.people.wrote(metadata.phone_number_id, person.key, atMs);
  world.outbox.add({ kind: 'node', wabaId, field: 'messages', value }, atMs);
}

/** Whoever has blocked the business gets nothing more: later messages are sent and never delivered. */
export function changeRecipient(world: World, to: string, body: unknown): unknown {
  const { blocked } = v.parse(RecipientSchema, body);
  if (blocked) world.blocked.add(to);
  else world.blocked.delete(to);
  return { to, blocked };
}

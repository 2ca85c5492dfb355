import type { Did } from '../../access/directory.ts';
import { changeTimeMs, currentChange, type OptOutChange, type PersonSource } from '../../opt-outs/entry.ts';
import { optOutEvent } from '../../opt-outs/opt-out-event.ts';
import type { Recipient } from '../../opt-outs/person-name.ts';
import { recordIdChange, recordOptOut } from '../../opt-outs/record-opt-out.ts';
import { type Scope, textOf } from '../../opt-outs/scope.ts';
import type { stopWordMatcher } from '../../opt-outs/stop-words.ts';
import { isUserId } from '../../platform/user-id.ts';
import type { ServiceEvent } from '../../webhooks/event.ts';
import { messageIdOf } from '../dispatch/head.ts';
import { canonicalAddress } from '../request/recipient-address.ts';
import { type ConcernedClients, type ConcernedPorts, concernedClients } from './concerned-clients.ts';
import { type InboundUpdate, recipientsAmong } from './inbound-message.ts';
import type { NoteReplacedIds } from './replaced-ids.ts';
import type { AddressOf, EventsOfReply, FindRepliedTo, RepliedToMessage } from './reply-ports.ts';

// An inbound update is recorded, then emitted if it is the latest of its scope (D55). That is idempotent: entries
// merge, and event ids follow from the update.

// A platform setting or refusal 131050 concerns the number, or the WABA if the operator widened it. A start is recorded
// for both, so that no stop outlives a past widening.

// A stop or start word or button concerns single clients: the one whose message is answered, else those of
// concerned-clients.ts.

export interface RecordPorts extends ConcernedPorts {
  readonly judge: ReturnType<typeof stopWordMatcher>;
  readonly answered: FindRepliedTo;
  readonly addressOf: AddressOf;
  readonly eventsOfReply: EventsOfReply;
  /** Tells whether a client that may send from the number subscribes to replies. */
  readonly anySubscribesToReplies: (did: Did | undefined) => Promise<boolean>;
  readonly noteReplacedIds: NoteReplacedIds;
  readonly note: (what: string) => void;
}

/** The number has no directory entry if it belongs to no client, or to another WABA. */
export interface ReceivingNumber {
  readonly wabaId: string;
  readonly phoneNumberId: string;
  readonly did: Did | undefined;
}

type Of<Kind extends InboundUpdate['kind']> = Extract<InboundUpdate, { readonly kind: Kind }>;

/** Returns the events. Throws when a write failed and the update must come again. */
export async function recordInbound(
  update: InboundUpdate,
  number: ReceivingNumber,
  ports: RecordPorts,
): Promise<ServiceEvent[]> {
  switch (update.kind) {
    case 'preference':
      return await takePreference(update, number, ports);
    case 'reply':
      return await takeReply(update, number, ports);
    case 'refused': {
      const { recipients, atMs, clientId } = update;
      const change = { says: 'stopped', atMs, source: 'refused' } as const;
      return await recordOfNumber({ change, recipients, clientIds: [clientId] }, number, ports);
    }
    case 'respelled':
      await recordIdChange({ ...update, old: [] }, ports.optOuts);
      return [];
    case 'id_changed':
      await takeChange(update, number, ports);
      return [];
  }
}

async function takePreference(
  update: Of<'preference'>,
  number: ReceivingNumber,
  ports: RecordPorts,
): Promise<ServiceEvent[]> {
  const says = update.says === 'stop' ? 'stopped' : 'started';
  const atMs = changeTimeMs(says, update.atMs, update.receivedAtMs);
  if (atMs === undefined) return timeless(ports);
  const recipients = recipientsOfUpdate(update);
  const clientIds =
    number.did === undefined ? [] : (await concernedClients(number.did, { recipients, atMs }, ports)).clientIds;
  return await recordOfNumber({ change: { says, atMs, source: 'platform' }, recipients, clientIds }, number, ports);
}

async function takeReply(update: Of<'reply'>, number: ReceivingNumber, ports: RecordPorts): Promise<ServiceEvent[]> {
  const { wabaId, phoneNumberId, did } = number;
  const answered = await answeredFrom(update, number, ports);
  const joined = await numberAnsweredFrom(update, answered, ports);
  const recipients = [...joined, ...recipientsOfUpdate(update)];
  const change = changeOfReply(update, ports);
  if (joined.length > 0 && change === undefined) {
    await recordIdChange({ old: [], recipients, atMs: saidAtMs(update) }, ports.optOuts);
  }
  // Looking up correspondents is expensive, and people may reply by the thousand, so irrelevant texts skip it.
  const isOfInterest = change !== undefined || answered !== undefined || (await ports.anySubscribesToReplies(did));
  const concerned = isOfInterest ? await concernedByReply({ update, recipients, answered }, number, ports) : undefined;
  if (concerned === undefined) return [];
  const { clientIds, readerId } = concerned;
  const events: ServiceEvent[] = [];
  if (change !== undefined) {
    for (const clientId of clientIds) {
      const recording = {
        scope: { kind: 'client', clientId },
        recipients,
        word: change,
        clientIds: [clientId],
      } as const;
      events.push(...(await recorded(recording, { did, answered }, ports)));
    }
  }
  const reply = { word: update, did, number: { wabaId, phoneNumberId }, clientId: readerId, recipients, answered };
  return [...events, ...(await ports.eventsOfReply(reply))];
}

/** Returns undefined when the number belongs to no client and no message of ours is answered. */
async function concernedByReply(
  reply: {
    readonly update: Of<'reply'>;
    readonly recipients: readonly Recipient[];
    readonly answered: RepliedToMessage | undefined;
  },
  { did }: ReceivingNumber,
  ports: RecordPorts,
): Promise<ConcernedClients | undefined> {
  const { update, recipients, answered } = reply;
  if (answered !== undefined) return { clientIds: [answered.head.clientId], readerId: answered.head.clientId };
  return did && (await concernedClients(did, { recipients, atMs: saidAtMs(update) }, ports));
}

type PersonChange = OptOutChange<PersonSource>;

/** A message of another number was not answered here, whatever the payload says. */
async function answeredFrom(
  { reply }: Of<'reply'>,
  { wabaId, phoneNumberId }: ReceivingNumber,
  { answered }: RecordPorts,
): Promise<RepliedToMessage | undefined> {
  const found = await answered(reply, { wabaId, phoneNumberId });
  return found?.head.wabaId === wabaId && found.head.phoneNumberId === phoneNumberId ? found : undefined;
}

/**
 * Returns the number that the answered message went to, where the platform names the person by user id alone: both are
 * one person (D55). A number that the platform tells wins, because the person may have a new one.
 */
async function numberAnsweredFrom(
  { person }: Of<'reply'>,
  answered: RepliedToMessage | undefined,
  { addressOf }: RecordPorts,
): Promise<Recipient[]> {
  if (answered === undefined || person.waId !== undefined) return [];
  const to = await addressOf({ dispatchId: answered.head.dispatchId, index: answered.index });
  return to === undefined || isUserId(to) ? [] : recipientsAmong([canonicalAddress(to)]);
}

function changeOfReply(update: Of<'reply'>, ports: RecordPorts): PersonChange | undefined {
  const verdict = ports.judge(update.reply);
  if (verdict === undefined) {
    ports.note('reply');
    return undefined;
  }
  const says = verdict === 'stop' ? 'stopped' : 'started';
  const atMs = changeTimeMs(says, update.atMs, update.receivedAtMs);
  if (atMs === undefined) {
    timeless(ports);
    return undefined;
  }
  return { says, atMs, source: update.reply.by === 'text' ? 'reply' : 'quick_reply' };
}

async function takeChange(update: Of<'id_changed'>, { wabaId }: ReceivingNumber, ports: RecordPorts): Promise<void> {
  const { person, old } = update;
  const atMs = saidAtMs(update);
  ports.note('id_changed');
  const replaced = (['userId', 'parentUserId'] as const).flatMap((which) => {
    const [userId, by] = [old[which], person[which]];
    return userId === undefined || by === undefined ? [] : [{ userId, by, atMs }];
  });
  await ports.noteReplacedIds(wabaId, replaced);
  const recipientsBefore = recipientsAmong([old.waId, old.userId, old.parentUserId]);
  const changed = { old: recipientsBefore, recipients: recipientsOfUpdate(update), atMs };
  await recordIdChange(changed, ports.optOuts);
}

/** Records an update of the platform, and emits it for the widest scope it applies to. */
async function recordOfNumber(
  {
    change,
    recipients,
    clientIds,
  }: {
    readonly change: PersonChange;
    readonly recipients: readonly Recipient[];
    readonly clientIds: readonly number[];
  },
  number: ReceivingNumber,
  ports: RecordPorts,
): Promise<ServiceEvent[]> {
  const { wabaId, phoneNumberId, did } = number;
  const ofNumber: Scope = { kind: 'number', wabaId, phoneNumberId };
  const ofWaba: Scope = { kind: 'waba', wabaId };
  const emittedScope = did?.waba.platformStops === 'waba' ? ofWaba : ofNumber;
  const scopes = change.says === 'started' || emittedScope === ofWaba ? [ofNumber, ofWaba] : [ofNumber];
  const events: ServiceEvent[] = [];
  for (const scope of scopes) {
    const recording = { scope, recipients, word: change, clientIds };
    const ofScope = await recorded(recording, { did, answered: undefined }, ports);
    if (scope === emittedScope) events.push(...ofScope);
  }
  return events;
}

/** Records an update in one scope. Returns its events if it is in force. */
async function recorded(
  recording: {
    readonly scope: Scope;
    readonly recipients: readonly Recipient[];
    readonly word: PersonChange;
    readonly clientIds: readonly number[];
  },
  { did, answered }: { readonly did: Did | undefined; readonly answered: RepliedToMessage | undefined },
  ports: RecordPorts,
): Promise<ServiceEvent[]> {
  const { scope, recipients, word, clientIds } = recording;
  const { person } = await recordOptOut(recording, ports.optOuts);
  ports.note(`${word.says}_${scope.kind}_${word.source}`);
  const stands = currentChange(person.entries[textOf(scope)] ?? {});
  if (stands?.says !== word.says || stands.atMs !== word.atMs || stands.source !== word.source) return [];
  const message = answered && messageOf(answered);
  return clientIds.map((clientId) =>
    optOutEvent({ clientId, recipients, did: did?.channel.did, scope, word, answered: message }),
  );
}

function messageOf({ head: { dispatchId }, index }: RepliedToMessage) {
  return { dispatchId, messageId: messageIdOf({ dispatchId, index }) };
}

/**
 * Returns all ids of the person that a send could address, the number first. User names change owners and do not count.
 */
function recipientsOfUpdate({ person }: { readonly person: Of<'reply'>['person'] }): Recipient[] {
  return recipientsAmong([person.waId, person.userId, person.parentUserId]);
}

/** A time in the future becomes the arrival. */
function saidAtMs({ atMs, receivedAtMs }: { readonly atMs?: number; readonly receivedAtMs: number }): number {
  return Math.min(atMs ?? receivedAtMs, receivedAtMs);
}

/** A start without a time is ignored: it might be older than any stop. */
function timeless({ note }: RecordPorts): [] {
  note('start_without_time');
  return [];
}

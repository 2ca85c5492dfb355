import { type Did, onlyClientOf } from '../../access/directory.ts';
import { changeTimeMs, currentChange, type OptOutChange, type PersonSource } from '../../opt-outs/entry.ts';
import { optOutEvent } from '../../opt-outs/opt-out-event.ts';
import type { Recipient } from '../../opt-outs/person-name.ts';
import { type OptOutPorts, recordIdChange, recordOptOut, type ToRecord } from '../../opt-outs/record-opt-out.ts';
import { type ShownScope, textOf } from '../../opt-outs/scope.ts';
import type { stopWordMatcher } from '../../opt-outs/stop-words.ts';
import { isUserId } from '../../platform/user-id.ts';
import type { ServiceEvent } from '../../webhooks/event.ts';
import { type DispatchHead, messageIdOf } from '../dispatch/head.ts';
import { canonicalAddress } from '../request/recipient-address.ts';
import { type InboundUpdate, recipientsAmong } from './inbound-message.ts';
import type { NoteReplacedIds } from './replaced-ids.ts';
import { repliedEvent } from './replied-event.ts';
import type { AddressOf, FindRepliedTo, RepliedToMessage } from './reply-ports.ts';

// An inbound update is recorded, then emitted if its scope says the same now (D55). That is idempotent: entries merge,
// and event ids follow from the update.

// A platform setting or refusal 131050 concerns the number, or the WABA if the operator widened it. A start is recorded
// for both, so that no stop outlives a past widening.

// A reply is the client's whose message it answers, else that of the only client of the number. Where several may
// send, a word is the number's (scope `words`), and no client is told of it, or of a text.

export interface RecordPorts {
  readonly optOuts: OptOutPorts;
  readonly judge: ReturnType<typeof stopWordMatcher>;
  readonly answered: FindRepliedTo;
  readonly addressOf: AddressOf;
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
      return await recordOfNumber({ change, recipients, clientId }, number, ports);
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
  const change = { says, atMs, source: 'platform' } as const;
  const recipients = recipientsOfUpdate(update);
  // A person who wants marketing from the number again has taken back what was said to it.
  if (says === 'started') await recordWord({ change, recipients }, number, ports);
  const clientId = receiverOf(undefined, number)?.clientId;
  return await recordOfNumber({ change, recipients, clientId }, number, ports);
}

async function takeReply(update: Of<'reply'>, number: ReceivingNumber, ports: RecordPorts): Promise<ServiceEvent[]> {
  const answered = await answeredFrom(update, number, ports);
  const joined = await numberAnsweredFrom(update, answered, ports);
  const recipients = [...joined, ...recipientsOfUpdate(update)];
  const change = changeOfReply(update, ports);
  if (joined.length > 0 && change === undefined) {
    await recordIdChange({ old: [], recipients, atMs: saidAtMs(update) }, ports.optOuts);
  }
  const receiver = receiverOf(answered, number);
  // A start is recorded for the number, too, so that no stop outlives a past sharing.
  const isOfNumber = receiver === undefined || (answered === undefined && change?.says === 'started');
  if (change !== undefined && isOfNumber) await recordWord({ change, recipients }, number, ports);
  if (receiver === undefined) return [];
  const reply = repliedEvent({ word: update, ...receiver, answered });
  if (change === undefined) return [reply];
  const { clientId } = receiver;
  const scope = { kind: 'client', clientId } as const;
  return [...(await recorded({ scope, recipients, change, clientId }, { number, answered }, ports)), reply];
}

/**
 * Returns the client that a reply is told to, with the number; undefined where it may be meant for several, or none.
 */
function receiverOf(
  answered: RepliedToMessage | undefined,
  { did }: ReceivingNumber,
): Pick<DispatchHead, 'clientId' | 'did'> | undefined {
  if (answered !== undefined) return { clientId: answered.head.clientId, did: answered.head.did };
  if (did === undefined) return undefined;
  const clientId = onlyClientOf(did);
  return clientId === undefined ? undefined : { clientId, did: did.channel.did };
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

interface PersonWord {
  readonly change: PersonChange;
  readonly recipients: readonly Recipient[];
}

/** Records an update of the platform, and emits it for the widest scope it applies to. */
async function recordOfNumber(
  word: PersonWord & { readonly clientId: number | undefined },
  number: ReceivingNumber,
  ports: RecordPorts,
): Promise<ServiceEvent[]> {
  const { wabaId, phoneNumberId, did } = number;
  const ofNumber: ShownScope = { kind: 'number', wabaId, phoneNumberId };
  const ofWaba: ShownScope = { kind: 'waba', wabaId };
  const emittedScope = did?.waba.platformStops === 'waba' ? ofWaba : ofNumber;
  const scopes = word.change.says === 'started' || emittedScope === ofWaba ? [ofNumber, ofWaba] : [ofNumber];
  const events: ServiceEvent[] = [];
  for (const scope of scopes) {
    const ofScope = await recorded({ scope, ...word }, { number, answered: undefined }, ports);
    if (scope === emittedScope) events.push(...ofScope);
  }
  return events;
}

/** Records what was said to a number, and to which client is not known. */
async function recordWord(
  { change, recipients }: PersonWord,
  { wabaId, phoneNumberId }: ReceivingNumber,
  ports: RecordPorts,
): Promise<void> {
  const scope = { kind: 'words', wabaId, phoneNumberId } as const;
  await stored({ scope, recipients, word: change }, ports);
}

/** Records an update in one scope, for a client where one is to be told. Returns its event if it is in force. */
async function recorded(
  recording: PersonWord & { readonly scope: ShownScope; readonly clientId: number | undefined },
  { number, answered }: { readonly number: ReceivingNumber; readonly answered: RepliedToMessage | undefined },
  ports: RecordPorts,
): Promise<ServiceEvent[]> {
  const { scope, recipients, change: word, clientId } = recording;
  const person = await stored({ scope, recipients, word, listedFor: clientId }, ports);
  const stands = currentChange(person.entries[textOf(scope)] ?? {});
  // This client is told, although an equal word that is later was told to another or to none.
  if (clientId === undefined || stands?.says !== word.says) return [];
  const did = number.did?.channel.did;
  return [optOutEvent({ clientId, recipients, did, scope, word, answered: answered && messageOf(answered) })];
}

async function stored(recording: ToRecord & { readonly word: PersonChange }, ports: RecordPorts) {
  const { scope, word } = recording;
  ports.note(`${word.says}_${scope.kind}_${word.source}`);
  return (await recordOptOut(recording, ports.optOuts)).person;
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

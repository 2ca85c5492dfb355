import type { Did } from '../../access/directory.ts';
import { type PersonSource, standing, timeOfWord, type Word } from '../../opt-outs/entry.ts';
import { optOutEvent } from '../../opt-outs/opt-out-event.ts';
import type { Recipient } from '../../opt-outs/person-name.ts';
import { recordChange, recordWord } from '../../opt-outs/record-word.ts';
import { type Scope, textOf } from '../../opt-outs/scope.ts';
import type { wordJudge } from '../../opt-outs/stop-words.ts';
import type { ServiceEvent } from '../../webhooks/event.ts';
import { dispatchIdOf } from '../job.ts';
import type { Answered, FindAnswered, TellReply } from './answered.ts';
import { type Concerned, type ConcernedPorts, concernedBy } from './concerned.ts';
import { type InboundWord, recipientsAmong } from './inbound-message.ts';
import type { NoteReplacedIds } from './replaced-ids.ts';

/*
 * What becomes of an inbound word (D55). Its scope:
 *
 *   the platform's setting, and its refusal 131050    the number; the WABA as well where the operator has widened it. A start is
 *                                                     always recorded for both, so that no stop outlives a widening that has ended
 *   a stop or start word, the button against marketing    each client that it concerns, by itself: the one whose message is
 *                                                     answered, else those of concerned.ts
 *
 * The word is recorded, then told to the clients that it concerns, if it is the one that stands in its scope: one that comes late,
 * after another, is kept and not told. All of it may be repeated: entries are joins, ids of events follow from the word.
 */

export interface WordPorts extends ConcernedPorts {
  readonly judge: ReturnType<typeof wordJudge>;
  readonly answered: FindAnswered;
  readonly tellReply: TellReply;
  /** Whether a client that may send from the number wants to be told of replies. */
  readonly anyWantsReplies: (did: Did | undefined) => Promise<boolean>;
  readonly noteReplacedIds: NoteReplacedIds;
  /** What was made of the word, for a tally: names of ours. */
  readonly note: (what: string) => void;
}

/** A number as the platform names it, and what the directory has of it: nothing where it is no client's, or of another WABA. */
export interface HeardNumber {
  readonly wabaId: string;
  readonly phoneNumberId: string;
  readonly did: Did | undefined;
}

type Of<Kind extends InboundWord['kind']> = Extract<InboundWord, { readonly kind: Kind }>;

/** Records a word; returns what is to be told of it. Throws when a part of it could not be written, and all must come again. */
export async function takeWord(word: InboundWord, number: HeardNumber, ports: WordPorts): Promise<ServiceEvent[]> {
  switch (word.kind) {
    case 'preference':
      return await takePreference(word, number, ports);
    case 'reply':
      return await takeReply(word, number, ports);
    case 'refused': {
      const { recipients, atMs, clientId } = word;
      const said = { says: 'stopped', atMs, source: 'refused' } as const;
      return await recordOfNumber({ said, recipients, clientIds: [clientId] }, number, ports);
    }
    case 'respelled':
      await recordChange({ ...word, old: [] }, ports.optOuts);
      return [];
    case 'id_changed':
      await takeChange(word, number, ports);
      return [];
  }
}

async function takePreference(word: Of<'preference'>, number: HeardNumber, ports: WordPorts): Promise<ServiceEvent[]> {
  const says = word.says === 'stop' ? 'stopped' : 'started';
  const atMs = timeOfWord(says, word.atMs, word.receivedAtMs);
  if (atMs === undefined) return timeless(ports);
  const recipients = recipientsOfWord(word);
  const clientIds =
    number.did === undefined ? [] : (await concernedBy(number.did, { recipients, atMs }, ports)).clientIds;
  return await recordOfNumber({ said: { says, atMs, source: 'platform' }, recipients, clientIds }, number, ports);
}

async function takeReply(word: Of<'reply'>, number: HeardNumber, ports: WordPorts): Promise<ServiceEvent[]> {
  const { wabaId, phoneNumberId, did } = number;
  const recipients = recipientsOfWord(word);
  const answered = await answeredFrom(word, number, ports);
  const said = wordOfReply(word, ports);
  // Who wrote to whom is dear to ask, and people may reply by the thousand: not for a text that means nothing to anybody.
  const isOfInterest = said !== undefined || answered !== undefined || (await ports.anyWantsReplies(did));
  const concerned = isOfInterest ? await concernedByReply({ word, recipients, answered }, number, ports) : undefined;
  if (concerned === undefined) return [];
  const { clientIds, readerId } = concerned;
  const events: ServiceEvent[] = [];
  if (said !== undefined) {
    for (const clientId of clientIds) {
      const recording = { scope: { kind: 'client', clientId }, recipients, word: said, clientIds: [clientId] } as const;
      events.push(...(await recorded(recording, { did, answered }, ports)));
    }
  }
  const told = { word, did, number: { wabaId, phoneNumberId }, clientId: readerId, recipients, answered };
  return [...events, ...(await ports.tellReply(told))];
}

/** Undefined where the number is no client's, and no message of ours is answered. */
async function concernedByReply(
  said: {
    readonly word: Of<'reply'>;
    readonly recipients: readonly Recipient[];
    readonly answered: Answered | undefined;
  },
  { did }: HeardNumber,
  ports: WordPorts,
): Promise<Concerned | undefined> {
  const { word, recipients, answered } = said;
  if (answered !== undefined) return { clientIds: [answered.head.clientId], readerId: answered.head.clientId };
  return did && (await concernedBy(did, { recipients, atMs: saidAtMs(word) }, ports));
}

type Heard = Word<PersonSource>;

/** A message of another number was never answered here, whatever a payload says. */
async function answeredFrom(
  { reply }: Of<'reply'>,
  { wabaId, phoneNumberId }: HeardNumber,
  { answered }: WordPorts,
): Promise<Answered | undefined> {
  const found = await answered(reply, { wabaId, phoneNumberId });
  return found?.head.wabaId === wabaId && found.head.phoneNumberId === phoneNumberId ? found : undefined;
}

/** The stop or start that a reply is, if it is one. */
function wordOfReply(word: Of<'reply'>, ports: WordPorts): Heard | undefined {
  const verdict = ports.judge(word.reply);
  if (verdict === undefined) {
    ports.note('reply');
    return undefined;
  }
  const says = verdict === 'stop' ? 'stopped' : 'started';
  const atMs = timeOfWord(says, word.atMs, word.receivedAtMs);
  if (atMs === undefined) {
    timeless(ports);
    return undefined;
  }
  return { says, atMs, source: word.reply.by === 'text' ? 'reply' : 'quick_reply' };
}

async function takeChange(word: Of<'id_changed'>, { wabaId }: HeardNumber, ports: WordPorts): Promise<void> {
  const { person, old } = word;
  const atMs = saidAtMs(word);
  ports.note('id_changed');
  if (old.userId !== undefined && person.userId !== undefined) {
    await ports.noteReplacedIds(wabaId, [{ userId: old.userId, by: person.userId, atMs }]);
  }
  const changed = { old: recipientsAmong([old.waId, old.userId]), recipients: recipientsOfWord(word), atMs };
  await recordChange(changed, ports.optOuts);
}

/** Records a word of the platform, and tells it in the widest scope in which it counts. */
async function recordOfNumber(
  {
    said,
    recipients,
    clientIds,
  }: {
    readonly said: Heard;
    readonly recipients: readonly Recipient[];
    readonly clientIds: readonly number[];
  },
  number: HeardNumber,
  ports: WordPorts,
): Promise<ServiceEvent[]> {
  const { wabaId, phoneNumberId, did } = number;
  const ofNumber: Scope = { kind: 'number', wabaId, phoneNumberId };
  const ofWaba: Scope = { kind: 'waba', wabaId };
  const told = did?.waba.platformStops === 'waba' ? ofWaba : ofNumber;
  const scopes = said.says === 'started' || told === ofWaba ? [ofNumber, ofWaba] : [ofNumber];
  const events: ServiceEvent[] = [];
  for (const scope of scopes) {
    const recording = { scope, recipients, word: said, clientIds };
    const ofScope = await recorded(recording, { did, answered: undefined }, ports);
    if (scope === told) events.push(...ofScope);
  }
  return events;
}

/** Records a word in one scope; returns what the clients are told of it, if it stands. */
async function recorded(
  recording: {
    readonly scope: Scope;
    readonly recipients: readonly Recipient[];
    readonly word: Heard;
    readonly clientIds: readonly number[];
  },
  { did, answered }: { readonly did: Did | undefined; readonly answered: Answered | undefined },
  ports: WordPorts,
): Promise<ServiceEvent[]> {
  const { scope, recipients, word, clientIds } = recording;
  const { person } = await recordWord(recording, ports.optOuts);
  ports.note(`${word.says}_${scope.kind}_${word.source}`);
  const stands = standing(person.entries[textOf(scope)] ?? {});
  if (stands?.says !== word.says || stands.atMs !== word.atMs || stands.source !== word.source) return [];
  const message = answered && messageOf(answered);
  return clientIds.map((clientId) =>
    optOutEvent({ clientId, recipients, did: did?.channel.did, scope, word, answered: message }),
  );
}

function messageOf({ head: { jobId }, index }: Answered) {
  return { jobId, messageId: dispatchIdOf({ jobId, index }) };
}

/** All by which the word names its person, as a send would spell them, the number first. A user name is none: it changes hands. */
function recipientsOfWord({ person }: { readonly person: Of<'reply'>['person'] }): Recipient[] {
  return recipientsAmong([person.waId, person.userId, person.parentUserId]);
}

/** A word of one to come is of its arrival. */
function saidAtMs({ atMs, receivedAtMs }: { readonly atMs?: number; readonly receivedAtMs: number }): number {
  return Math.min(atMs ?? receivedAtMs, receivedAtMs);
}

/** A start of which the platform tells no time says nothing: it might be older than any stop. */
function timeless({ note }: WordPorts): [] {
  note('start_without_time');
  return [];
}

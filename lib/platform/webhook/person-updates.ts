import { idOf, listOf, objectOf, type PlatformUpdate, timeOf } from './envelope.ts';
import { contactsIn, type Person, personOf, userIdOf, waIdOf } from './person.ts';

/** All updates about a person share this part. `atMs` is the platform's time, if readable. */
interface UpdateFacts {
  readonly wabaId: string;
  readonly phoneNumberId: string;
  /** The person has a number or a user id, or both. */
  readonly person: Person;
  readonly atMs?: number;
  readonly messageId?: string;
  /** The update was seen in the thread of another app, which answers it (platform reference, 10.5). */
  readonly standby?: true;
}

/** The person wrote or saw `text`; `payload` is the sender's hidden part. */
export interface Reply {
  readonly by: 'text' | 'quick_reply' | 'button' | 'list' | 'flow';
  readonly text?: string;
  readonly payload?: string;
  readonly toMessageId?: string;
}

interface Preference {
  readonly kind: 'preference';
  readonly says: 'stop' | 'resume' | 'signup';
}

interface Replied {
  readonly kind: 'reply';
  readonly reply: Reply;
}

/** The person has new ids; `old` are the replaced ones, if the platform names them. */
interface IdChange {
  readonly kind: 'user_id_changed' | 'number_changed';
  readonly old: Pick<Person, 'waId' | 'userId' | 'parentUserId'>;
}

/** The service uses these updates about a person (platform reference, 10.5). */
export type PersonUpdate = UpdateFacts & (Preference | Replied | IdChange);

export interface PersonUpdates {
  readonly words: readonly PersonUpdate[];
  /** Other messages of people are counted by our own type names. */
  readonly others: ReadonlyMap<OtherType, number>;
  /** These updates lack person, number, type or content. */
  readonly unreadable: number;
}

const otherTypes = [
  ...(['image', 'video', 'audio', 'document', 'sticker', 'location', 'contacts', 'order', 'reaction'] as const),
  ...(['system', 'unsupported', 'edit', 'revoke', 'interactive', 'preference', 'unknown'] as const),
] as const;
type OtherType = (typeof otherTypes)[number];
const knownOtherTypes: ReadonlySet<string> = new Set(otherTypes);

type Json = Readonly<Record<string, unknown>>;
type Content = Preference | Replied | (IdChange & Pick<UpdateFacts, 'person'>);

const maxTextLength = 1_000;
const maxMessageIdLength = 256;

/**
 * Returns people's replies (`messages`, `standby`), preferences (`user_preferences`) and changed ids. Never throws; an
 * unreadable part does not spoil the others. Duplicate messages count once. Texts are cut after a thousand characters.
 */
export function personUpdatesOf(updates: readonly PlatformUpdate[]): PersonUpdates {
  const recognized: PersonUpdate[] = [];
  const others = new Map<OtherType, number>();
  const seen = new Set<string>();
  let unreadable = 0;
  for (const { update, part, contactOf } of updates.flatMap(partsOf)) {
    const facts = updateFactsIn(update, part);
    const key = facts?.messageId === undefined ? undefined : `${facts.phoneNumberId} ${facts.messageId}`;
    if (key !== undefined && seen.has(key)) continue;
    if (key !== undefined) seen.add(key);
    const content = part === undefined ? undefined : contentOf(update, part);
    if (typeof content === 'string') others.set(content, (others.get(content) ?? 0) + 1);
    else {
      const recognizedUpdate =
        facts === undefined || content === undefined ? undefined : personUpdateOf(facts, content, contactOf);
      if (recognizedUpdate === undefined) unreadable += 1;
      else recognized.push(recognizedUpdate);
    }
  }
  return { words: recognized, others, unreadable };
}

interface Part {
  readonly update: PlatformUpdate;
  readonly part: Json | undefined;
  readonly contactOf: (named: Person) => Person | undefined;
}

const listOfField = { messages: 'messages', standby: 'messages', user_preferences: 'user_preferences' } as const;

function partsOf(update: PlatformUpdate): Part[] {
  const { field, value } = update;
  const list = Object.hasOwn(listOfField, field) ? listOfField[field as keyof typeof listOfField] : undefined;
  const entries = list === undefined ? [] : (listOf(value[list]) ?? []);
  if (entries.length === 0) return [];
  const contactOf = contactsIn(value, entries.length);
  return entries.map((each) => ({ update, part: objectOf(each), contactOf }));
}

/** Returns the person in the part itself, or undefined without the number that received it. */
function updateFactsIn(
  { wabaId, field, value, atMs }: PlatformUpdate,
  part: Json | undefined,
): UpdateFacts | undefined {
  const phoneNumberId = idOf(objectOf(value['metadata'])?.['phone_number_id']);
  if (phoneNumberId === undefined || part === undefined) return undefined;
  const names =
    field === 'user_preferences'
      ? { waId: part['wa_id'], userId: part['user_id'], parentUserId: part['parent_user_id'] }
      : { waId: part['from'], userId: part['from_user_id'], parentUserId: part['from_parent_user_id'] };
  return {
    wabaId,
    phoneNumberId,
    person: personOf(names),
    atMs: timeOf(part['timestamp']) ?? atMs,
    messageId: textOf(part['id'], maxMessageIdLength),
    standby: field === 'standby' ? (true as const) : undefined,
  };
}

/** Returns the person from the content, else from part and contact together, where the part wins. */
function personUpdateOf(facts: UpdateFacts, content: Content, contactOf: Part['contactOf']): PersonUpdate | undefined {
  const person = 'person' in content ? content.person : { ...contactOf(facts.person), ...facts.person };
  if (person.waId === undefined && person.userId === undefined) return undefined;
  return { ...facts, ...content, person };
}

/** Returns the content, or a type that is only counted, or undefined when the type or its content is missing. */
function contentOf({ field }: PlatformUpdate, part: Json): Content | OtherType | undefined {
  if (field === 'user_preferences') return preferenceIn(part);
  const type = part['type'];
  switch (type) {
    case 'text':
      return replyOf(part, { by: 'text', text: objectOf(part['text'])?.['body'] });
    case 'button': {
      const button = objectOf(part['button']);
      return replyOf(part, { by: 'quick_reply', text: button?.['text'], payload: button?.['payload'] });
    }
    case 'interactive':
      return interactiveIn(part);
    case 'system':
      return changeIn(objectOf(part['system']) ?? {}, part['from']);
    default:
      if (typeof type !== 'string') return undefined;
      return knownOtherTypes.has(type) ? (type as OtherType) : 'unknown';
  }
}

const preferences: ReadonlySet<unknown> = new Set(['stop', 'resume', 'signup']);

function preferenceIn({ value, category }: Json): Content | OtherType {
  const ofMarketing = category === undefined || category === 'marketing_messages';
  if (!ofMarketing || !preferences.has(value)) return 'preference';
  return { kind: 'preference', says: value as Preference['says'] };
}

function interactiveIn(part: Json): Content | OtherType | undefined {
  const interactive = objectOf(part['interactive']) ?? {};
  const answered = (name: string) => objectOf(interactive[name]);
  switch (interactive['type']) {
    case 'button_reply': {
      const button = answered('button_reply');
      return replyOf(part, { by: 'button', text: button?.['title'], payload: button?.['id'] });
    }
    case 'list_reply': {
      const row = answered('list_reply');
      return replyOf(part, { by: 'list', text: row?.['title'], payload: row?.['id'] });
    }
    case 'nfm_reply': {
      const flow = answered('nfm_reply');
      return replyOf(part, { by: 'flow', text: flow?.['body'], payload: flow?.['response_json'] });
    }
    default:
      return 'interactive';
  }
}

/** Returns undefined for an empty reply. */
function replyOf(
  part: Json,
  told: { readonly by: Reply['by']; readonly text: unknown; readonly payload?: unknown },
): Content | undefined {
  const [text, payload] = [textOf(told.text), textOf(told.payload)];
  if (text === undefined && payload === undefined) return undefined;
  const toMessageId = textOf(objectOf(part['context'])?.['id'], maxMessageIdLength);
  return { kind: 'reply', reply: { by: told.by, text, payload, toMessageId } };
}

/**
 * The platform's sentence about a change ends like this. A person's chosen name stands before it and may imitate it, so
 * only the last words count.
 */
const changeEnd = / changed from (\S+) to (\S+?)\.?$/;
/** Two ids of the longest kind, with the words between them, are shorter. */
const changeEndLength = 400;

/** Returns a change of ids, in the form of 2026-08 or an older one (platform reference, 10.5). */
function changeIn(system: Json, from: unknown): Content | OtherType {
  const kind = system['type'];
  if (kind !== 'user_changed_user_id' && kind !== 'user_changed_number') return 'system';
  const { wa_id: waId, user_id: userId, parent_user_id: parentUserId, body } = system;
  const person = personOf({ waId, userId, parentUserId });
  const isOfUserId = kind === 'user_changed_user_id';
  const olderForm = isOfUserId ? oldUserIdIn({ from, body, newUserId: person.userId }) : undefined;
  const old = {
    waId: waIdOf(from),
    userId: replaced(system['previous_user_id'], person.userId) ?? olderForm,
    parentUserId: replaced(system['previous_parent_user_id'], person.parentUserId),
  };
  return { kind: isOfUserId ? 'user_id_changed' : 'number_changed', person, old };
}

/** Returns the id of before, unless it is none, or no other one is known to replace it. */
function replaced(previous: unknown, now: string | undefined): string | undefined {
  const id = userIdOf(previous);
  return now === undefined || id === now ? undefined : id;
}

/**
 * Reads the older form, in which only `from` or the sentence's end names the old id. Returns undefined unless the new
 * id is known and all sources of the old one agree.
 */
function oldUserIdIn(change: {
  readonly from: unknown;
  readonly body: unknown;
  readonly newUserId: string | undefined;
}): string | undefined {
  const { newUserId } = change;
  const [, before, after] =
    (typeof change.body === 'string' && changeEnd.exec(change.body.slice(-changeEndLength))) || [];
  const ofBody = after === newUserId ? userIdOf(before) : undefined;
  const ofFrom = userIdOf(change.from);
  const old = ofFrom ?? ofBody;
  const agree = ofFrom === undefined || ofBody === undefined || ofFrom === ofBody;
  return newUserId !== undefined && agree && old !== newUserId ? old : undefined;
}

/** Returns non-empty text, cut, or undefined for anything else. */
function textOf(value: unknown, maxLength = maxTextLength): string | undefined {
  return typeof value === 'string' && value !== '' ? value.slice(0, maxLength).toWellFormed() : undefined;
}

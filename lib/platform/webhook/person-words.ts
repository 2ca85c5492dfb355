import { present } from '../../keys/present.ts';
import { idOf, listOf, objectOf, type PlatformUpdate, timeOf } from './envelope.ts';
import { contactsIn, type Person, personOf, userIdOf, waIdOf } from './person.ts';

/** What every word of a person has: whom it was said to, by whom, and when by the platform's clock where that can be read. */
interface Said {
  readonly wabaId: string;
  readonly phoneNumberId: string;
  /** At least one of number and user id. */
  readonly person: Person;
  readonly atMs?: number;
  /** The platform's id of what the person wrote or tapped. */
  readonly messageId?: string;
  /** Seen in a thread that belongs to another app, which is the one to answer (platform reference, 10.5). */
  readonly standby?: true;
}

/** An answer: `text` is what the person wrote or saw, `payload` what the sender has put behind it. */
export interface Reply {
  readonly by: 'text' | 'quick_reply' | 'button' | 'list' | 'flow';
  readonly text?: string;
  readonly payload?: string;
  /** The platform's id of the message that is answered. */
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

/** The word's person has the new ids; `old` has those whose place they take, as far as the platform tells them. */
interface IdChange {
  readonly kind: 'user_id_changed' | 'number_changed';
  readonly old: Pick<Person, 'waId' | 'userId'>;
}

/** What a person has done or said, as far as the service has a use for it (platform reference, 10.5). */
export type PersonWord = Said & (Preference | Replied | IdChange);

export interface PersonWords {
  readonly words: readonly PersonWord[];
  /** What else people have sent, by type: names of ours, however it is called. */
  readonly others: ReadonlyMap<OtherType, number>;
  /** Without person, number, type or content. */
  readonly unreadable: number;
}

const otherTypes = [
  ...(['image', 'video', 'audio', 'document', 'sticker', 'location', 'contacts', 'order', 'reaction'] as const),
  ...(['system', 'unsupported', 'edit', 'revoke', 'interactive', 'preference', 'unknown'] as const),
] as const;
type OtherType = (typeof otherTypes)[number];
const knownOtherTypes: ReadonlySet<string> = new Set(otherTypes);

type Json = Readonly<Record<string, unknown>>;
type Content = Preference | Replied | (IdChange & Pick<Said, 'person'>);

const maxTextLength = 1_000;
const maxMessageIdLength = 256;

/**
 * What people have said and done, among the updates of a webhook: replies (`messages`, `standby`), preferences
 * (`user_preferences`), and ids that changed. Never throws, and a part that cannot be read takes nothing from the others. A
 * message that stands there twice counts once. Texts are cut after a thousand characters, whole ones only.
 */
export function personWordsOf(updates: readonly PlatformUpdate[]): PersonWords {
  const words: PersonWord[] = [];
  const others = new Map<OtherType, number>();
  const seen = new Set<string>();
  let unreadable = 0;
  for (const { update, part, contactOf } of updates.flatMap(partsOf)) {
    const said = saidIn(update, part);
    const key = said?.messageId === undefined ? undefined : `${said.phoneNumberId} ${said.messageId}`;
    if (key !== undefined && seen.has(key)) continue;
    if (key !== undefined) seen.add(key);
    const content = part === undefined ? undefined : contentOf(update, part);
    if (typeof content === 'string') others.set(content, (others.get(content) ?? 0) + 1);
    else {
      const word = said === undefined || content === undefined ? undefined : wordOf(said, content, contactOf);
      if (word === undefined) unreadable += 1;
      else words.push(word);
    }
  }
  return { words, others, unreadable };
}

interface Part {
  readonly update: PlatformUpdate;
  /** Undefined for what is no object. */
  readonly part: Json | undefined;
  readonly contactOf: (named: Person) => Person | undefined;
}

const listOfField = { messages: 'messages', standby: 'messages', user_preferences: 'user_preferences' } as const;

function partsOf(update: PlatformUpdate): Part[] {
  const { field, value } = update;
  const list = Object.hasOwn(listOfField, field) ? listOfField[field as keyof typeof listOfField] : undefined;
  const told = list === undefined ? [] : (listOf(value[list]) ?? []);
  if (told.length === 0) return [];
  const contactOf = contactsIn(value, told.length);
  return told.map((each) => ({ update, part: objectOf(each), contactOf }));
}

/** Who says it, as far as the part itself tells; undefined without a number to which it was said. */
function saidIn({ wabaId, field, value, atMs }: PlatformUpdate, part: Json | undefined): Said | undefined {
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
    ...present({
      atMs: timeOf(part['timestamp']) ?? atMs,
      messageId: textOf(part['id'], maxMessageIdLength),
      standby: field === 'standby' ? (true as const) : undefined,
    }),
  };
}

/** The person as the content names them, else as part and contact do together: the part's own word goes before. */
function wordOf(said: Said, content: Content, contactOf: Part['contactOf']): PersonWord | undefined {
  const person = 'person' in content ? content.person : { ...contactOf(said.person), ...said.person };
  if (person.waId === undefined && person.userId === undefined) return undefined;
  return { ...said, ...content, person };
}

/** A type, for what is only counted; undefined for what has none, or not what belongs to it. */
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

/** Undefined for a reply that says nothing. */
function replyOf(
  part: Json,
  told: { readonly by: Reply['by']; readonly text: unknown; readonly payload?: unknown },
): Content | undefined {
  const [text, payload] = [textOf(told.text), textOf(told.payload)];
  if (text === undefined && payload === undefined) return undefined;
  const toMessageId = textOf(objectOf(part['context'])?.['id'], maxMessageIdLength);
  return { kind: 'reply', reply: { by: told.by, ...present({ text, payload, toMessageId }) } };
}

/**
 * The end of the platform's sentence about a change. What stands before it has the name that the person has chosen, which may
 * look like such an end: only the last words of the whole text count.
 */
const changeEnd = / changed from (\S+) to (\S+?)\.?$/;
/** More than two ids of the longest kind and the words between them. */
const changeEndLength = 400;

/** A change of ids. Of the old user id no field tells: only `from`, or the end of the sentence (platform reference, 10.5). */
function changeIn(system: Json, from: unknown): Content | OtherType {
  const kind = system['type'];
  if (kind !== 'user_changed_user_id' && kind !== 'user_changed_number') return 'system';
  const { wa_id: waId, user_id: userId, parent_user_id: parentUserId, body } = system;
  const person = personOf({ waId, userId, parentUserId });
  const oldUserId = kind === 'user_changed_user_id' ? oldUserIdIn({ from, body, newUserId: person.userId }) : undefined;
  return {
    kind: kind === 'user_changed_user_id' ? 'user_id_changed' : 'number_changed',
    person,
    old: present({ waId: waIdOf(from), userId: oldUserId }),
  };
}

/** Undefined unless the new id is told, and all that tells the old one agrees. */
function oldUserIdIn(told: {
  readonly from: unknown;
  readonly body: unknown;
  readonly newUserId: string | undefined;
}): string | undefined {
  const { newUserId } = told;
  const [, before, after] = (typeof told.body === 'string' && changeEnd.exec(told.body.slice(-changeEndLength))) || [];
  const ofBody = after === newUserId ? userIdOf(before) : undefined;
  const ofFrom = userIdOf(told.from);
  const old = ofFrom ?? ofBody;
  const agree = ofFrom === undefined || ofBody === undefined || ofFrom === ofBody;
  return newUserId !== undefined && agree && old !== newUserId ? old : undefined;
}

/** Text that is not empty, cut; undefined for anything else. */
function textOf(told: unknown, maxLength = maxTextLength): string | undefined {
  return typeof told === 'string' && told !== '' ? told.slice(0, maxLength).toWellFormed() : undefined;
}

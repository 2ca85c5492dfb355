import type { Changed } from '../aws/versioned-item.ts';
import type { Word } from './entry.ts';
import {
  accountOf,
  linked,
  mostNames,
  nothingSaid,
  type PersonOptOuts,
  refuses,
  saidUntil,
  together,
} from './person.ts';
import type { NameOf, PersonName, Recipient } from './person-name.ts';
import type { Scope } from './scope.ts';

/*
 * How a word becomes a stop that every worker sees (D55). The writer, in this order, each step awaited:
 *
 *   1. marks the scope: from now on workers that send within it look for people. A mark is never removed.
 *   2. joins the word into the item of each name of the person (compare-and-set), and with it all that is known under the others.
 *      A name that one of these items adds is written too, until all of them say the same. Then the word goes under the names that
 *      have taken the place of these, if it was said before they did.
 *   3. lists who said it for each client that the word concerns, under the names that the word itself spells. Of a number that
 *      several clients share these are not all whom the stop holds back: a client is never told whom others write to.
 *
 * The stop is *stored* once this has returned; the webhook or request is acknowledged afterwards, and repeated in whole when a step
 * fails. Steps may be repeated, for what is written is a join (entry.ts).
 *
 * The worker, in this order: claims the slice; reads the marks of client and WABA, strongly, with job and holds, or knows one, for none
 * is ever removed; where one is there, reads the items of its recipients, strongly; calls those who are not stopped.
 *
 * So for a slice that is claimed after the stop was stored: the mark was confirmed before the claim, thus the worker sees it and looks.
 * The item of every name was confirmed before the claim, thus the worker sees the stop under whichever name the recipient is spelled. A
 * start that was said later ends this, by its own write of the same items. The mark comes first: a writer that dies leaves a mark too
 * many, which costs reads, and never a stop for which no worker looks.
 *
 * Marks stand in items of their own and not in the WABA's HOLDS: a client's word counts in every WABA from which it sends, also in one
 * that it gets later, and HOLDS go after thirty days.
 */

/** What a word is recorded with. All throw when the store cannot be reached; all may be repeated. */
export interface OptOutPorts {
  readonly mark: (scope: Scope) => Promise<void>;
  /** Applies a rule to what is kept under a name; returns what is kept then. */
  readonly change: <Result>(
    name: PersonName,
    rule: (person: PersonOptOuts) => Changed<PersonOptOuts, Result>,
  ) => Promise<Changed<PersonOptOuts, Result>>;
  /** Puts a row into the list of a client. What the person wants is not in it: the listing asks the person's item. */
  readonly list: (clientId: number, row: ListedRow) => Promise<void>;
  readonly nameOf: NameOf;
}

export interface ListedRow {
  readonly name: PersonName;
  readonly recipient: Recipient;
}

export interface Recorded {
  /** False: the API may not start what the person or the platform has stopped; no word of it is kept. */
  readonly taken: boolean;
  /** All that is known of the person, the word included. */
  readonly person: PersonOptOuts;
}

/** Rounds in which other writers may add names; a delivery that meets more is repeated. */
const mostRounds = 8;

export interface ToRecord {
  readonly scope: Scope;
  /** All name one person; at least one. */
  readonly recipients: readonly Recipient[];
  readonly word: Word;
  /** In whose lists the person is to stand. */
  readonly clientIds: readonly number[];
}

/** Records a word of a person. */
export async function recordWord(
  { scope, recipients, word, clientIds }: ToRecord,
  ports: OptOutPorts,
): Promise<Recorded> {
  const spelled = new Map(recipients.map((recipient) => [ports.nameOf(recipient), recipient]));
  const [first] = spelled.keys();
  if (first === undefined) throw new Error('a word without a person');
  await ports.mark(scope);
  const account = accountOf(scope, word, [...spelled.keys()]);
  const { state, result: taken } = await ports.change(first, (before) => {
    const isTaken = !refuses(before, scope, word);
    return { state: isTaken ? together(before, account) : before, result: isTaken };
  });
  if (!taken) return { taken, person: state };
  const person = await spread({ known: state, own: [...spelled.keys()], stored: new Map([[first, state]]) }, ports);
  await carry([person, account], new Set(), ports);
  for (const clientId of clientIds) {
    for (const [name, recipient] of spelled) await ports.list(clientId, { name, recipient });
  }
  return { taken, person };
}

/**
 * Records that the platform has given a person other ids: all that was said under the old ones until then counts under the new ones
 * (platform reference, 4.5). Not the other way, and later nothing but a stop of a client, whom the change was not told: a number that
 * was given up becomes another person's.
 */
export async function recordChange(
  {
    old,
    recipients,
    atMs,
  }: { readonly old: readonly Recipient[]; readonly recipients: readonly Recipient[]; readonly atMs: number },
  ports: OptOutPorts,
): Promise<void> {
  const names = recipients.map(ports.nameOf);
  const became = { ...nothingSaid, became: Object.fromEntries(names.map((name) => [name, atMs])) };
  await spread({ known: { ...nothingSaid, names: linked(names) }, own: names }, ports);
  for (const name of old.map(ports.nameOf).filter((each) => !names.includes(each))) {
    const person = await spread({ known: became, own: [name] }, ports);
    await carry([person], new Set(), ports);
  }
}

/**
 * Writes what was said under names that others have taken the place of under those, each once. Each account by itself, for a late
 * word may stand behind one that came after the change.
 */
async function carry(accounts: readonly PersonOptOuts[], seen: Set<PersonName>, ports: OptOutPorts): Promise<void> {
  const [person = nothingSaid] = accounts;
  for (const name of person.names) seen.add(name);
  for (const [name, atMs] of Object.entries(person.became)) {
    const said = accounts.map((account) => saidUntil(account, atMs)).reduce(together);
    if (seen.has(name) || seen.size > 2 * mostNames || Object.keys(said.entries).length === 0) continue;
    seen.add(name);
    await carry([await spread({ known: said, own: [name] }, ports), said], seen, ports);
  }
}

/** What is known of a person, whom these names are, and what is stored under some of them already. */
interface Spreading {
  readonly known: PersonOptOuts;
  readonly own: readonly PersonName[];
  readonly stored?: ReadonlyMap<PersonName, PersonOptOuts>;
}

/** Writes what is known of a person under each of its names, until none of them adds anything. */
async function spread({ known, own, stored = new Map() }: Spreading, { change }: OptOutPorts): Promise<PersonOptOuts> {
  let person = known;
  const kept = new Map(stored);
  for (let round = 0; round < mostRounds; round += 1) {
    const names = [...new Set([...own, ...person.names])].slice(0, own.length + mostNames);
    const open = names.filter((name) => together(kept.get(name) ?? nothingSaid, person) !== kept.get(name));
    if (open.length === 0) return person;
    for (const name of open) {
      const told = person;
      const { state } = await change(name, (before) => ({ state: together(before, told), result: undefined }));
      kept.set(name, state);
      person = together(person, state);
    }
  }
  throw new Error('the names of a person change too fast');
}

import type { Changed } from '../aws/versioned-item.ts';
import type { OptOutChange } from './entry.ts';
import {
  linked,
  mergedOptOuts,
  mostNames,
  noOptOuts,
  optOutsOfChange,
  optOutsUntil,
  type PersonOptOuts,
  refuses,
} from './person.ts';
import type { NameOf, PersonName, Recipient } from './person-name.ts';
import type { Scope } from './scope.ts';

/**
 * A change becomes a stop that every worker sees (D55) in steps that the writer awaits: mark, person, list. Its webhook
 * or request is acknowledged afterwards and retried as a whole; writes are joins (entry.ts), so retries are safe.
 */

/**
 * A worker claims its slice, then reads the marks, strongly; with one, it reads its recipients. A stop that was stored
 * before the claim had its mark and all names written, so the worker sees it under any spelling.
 */
export interface OptOutPorts {
  readonly mark: (scope: Scope) => Promise<void>;
  /** Applies a rule to the state under a name, and returns the new state. */
  readonly change: <Result>(
    name: PersonName,
    rule: (person: PersonOptOuts) => Changed<PersonOptOuts, Result>,
  ) => Promise<Changed<PersonOptOuts, Result>>;
  /** Adds a row to a client's list. The row has no state: the listing reads the person's item. */
  readonly list: (clientId: number, row: ListedRow) => Promise<void>;
  readonly nameOf: NameOf;
}

export interface ListedRow {
  readonly name: PersonName;
  readonly recipient: Recipient;
}

export interface Recorded {
  /** False says that the API may not start after the person's or the platform's stop; then no change is stored. */
  readonly taken: boolean;
  readonly person: PersonOptOuts;
}

/** Other writers may add names in this many rounds; beyond them the delivery is retried. */
const mostRounds = 8;

export interface ToRecord {
  readonly scope: Scope;
  /** One person has at least one name. */
  readonly recipients: readonly Recipient[];
  readonly word: OptOutChange;
  /** The list of this client gets the person, by the names in the change. */
  readonly listedFor?: number;
}

/** All ports throw when the store fails. */
export async function recordOptOut(
  { scope, recipients, word, listedFor }: ToRecord,
  ports: OptOutPorts,
): Promise<Recorded> {
  const spelled = new Map(recipients.map((recipient) => [ports.nameOf(recipient), recipient]));
  const [first] = spelled.keys();
  if (first === undefined) throw new Error('a change without a person');
  // The mark comes first: a writer that dies leaves a useless mark, never a stop that no worker looks for. The mark has
  // its own item, because a client's change counts in WABAs that it gets later.
  await ports.mark(scope);
  const account = optOutsOfChange(scope, word, [...spelled.keys()]);
  const { state, result: taken } = await ports.change(first, (before) => {
    const isTaken = !refuses(before, scope, word);
    return { state: isTaken ? mergedOptOuts(before, account) : before, result: isTaken };
  });
  if (!taken) return { taken, person: state };
  const person = await spread({ known: state, own: [...spelled.keys()], stored: new Map([[first, state]]) }, ports);
  await carry([person, account], new Set(), ports);
  // A list gets only the names in the change: a client that shares a number must not learn the recipients of others.
  if (listedFor !== undefined) {
    for (const [name, recipient] of spelled) await ports.list(listedFor, { name, recipient });
  }
  return { taken, person };
}

/**
 * Records a person's new ids: all changes under the old ones until then count under the new ones (platform reference,
 * 4.5), never the reverse. Later only a client's stop counts, because a released number becomes another person's.
 */
export async function recordIdChange(
  {
    old,
    recipients,
    atMs,
  }: { readonly old: readonly Recipient[]; readonly recipients: readonly Recipient[]; readonly atMs: number },
  ports: OptOutPorts,
): Promise<void> {
  const names = recipients.map(ports.nameOf);
  const became = { ...noOptOuts, became: Object.fromEntries(names.map((name) => [name, atMs])) };
  await spread({ known: { ...noOptOuts, names: linked(names) }, own: names }, ports);
  for (const name of old.map(ports.nameOf).filter((each) => !names.includes(each))) {
    const person = await spread({ known: became, own: [name] }, ports);
    await carry([person], new Set(), ports);
  }
}

/**
 * Writes entries under the names that replaced a person's, once each. States stay apart, because a late opt-out may
 * follow one from after the replacement.
 */
async function carry(accounts: readonly PersonOptOuts[], seen: Set<PersonName>, ports: OptOutPorts): Promise<void> {
  const [person = noOptOuts] = accounts;
  for (const name of person.names) seen.add(name);
  for (const [name, atMs] of Object.entries(person.became)) {
    const earlier = accounts.map((account) => optOutsUntil(account, atMs)).reduce(mergedOptOuts);
    if (seen.has(name) || seen.size > 2 * mostNames || Object.keys(earlier.entries).length === 0) continue;
    seen.add(name);
    await carry([await spread({ known: earlier, own: [name] }, ports), earlier], seen, ports);
  }
}

/** One write spreads a person's state under these names; the states that are already stored are known. */
interface StateToSpread {
  readonly known: PersonOptOuts;
  readonly own: readonly PersonName[];
  readonly stored?: ReadonlyMap<PersonName, PersonOptOuts>;
}

/** Writes a person's state under each name, until none adds anything. */
async function spread(
  { known, own, stored = new Map() }: StateToSpread,
  { change }: OptOutPorts,
): Promise<PersonOptOuts> {
  let person = known;
  const kept = new Map(stored);
  for (let round = 0; round < mostRounds; round += 1) {
    const names = [...new Set([...own, ...person.names])].slice(0, own.length + mostNames);
    const open = names.filter((name) => mergedOptOuts(kept.get(name) ?? noOptOuts, person) !== kept.get(name));
    if (open.length === 0) return person;
    for (const name of open) {
      const soFar = person;
      const { state } = await change(name, (before) => ({ state: mergedOptOuts(before, soFar), result: undefined }));
      kept.set(name, state);
      person = mergedOptOuts(person, state);
    }
  }
  throw new Error('the names of a person change too fast');
}

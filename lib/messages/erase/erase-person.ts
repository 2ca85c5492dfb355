import { forEachConcurrently } from '../../aws/concurrently.ts';
import type { Item } from '../../aws/dynamodb-batch.ts';
import { canonicalNumber, numberSpellings } from '../../opt-outs/canonical-number.ts';
import { anonymizedEvent } from './anonymized-event.ts';
import { type DispatchPlace, dispatchPlaces, type ErasePorts, type Erasing } from './erase-ports.ts';
import type { PersonIds } from './person.ts';
import { type PersonData, personDataIn } from './person-data.ts';

// Erases a person (D60): every stored number, user id and parameter. person-data.ts lists kinds of items,
// anonymized-items.ts and anonymized-event.ts what is left. In webhooks only EVENT and WAITS concern people.

// No index leads from a number to its items, so scans of both tables find them. Where an item names a recipient of a
// dispatch, all items of that dispatch are read by key.

// A pass may miss later writes, or items of ids that it learns only then. So passes repeat until one finds nothing.

// Learned ids are stored before their source goes, and removed at the end: otherwise a dead run could not be repeated
// for them.

// Later writes leave the person out: workers read the dispatch's mark after each claim (excluded-recipients.ts), runs
// of receipts too (match-receipts.ts). infra/operate names copies outside the tables.

const otherPlaces = ['idempotencyKeys', 'replacedIds', 'pairs', 'optOutRows', 'events', 'waitingEvents'] as const;
type Place = DispatchPlace | (typeof otherPlaces)[number];
export const places: readonly Place[] = [...dispatchPlaces, ...otherPlaces];

export interface Erased {
  /** The last pass found nothing if `clean`. */
  readonly passes: number;
  readonly dispatches: number;
  readonly messages: number;
  /** Unsent messages end `failed`, `erased`. */
  readonly pending: number;
  /** Workers had these messages at the last look: the operator runs again some minutes later. */
  readonly underWay: number;
  readonly changed: Readonly<Record<Place, number>>;
  readonly linkedIds: number;
  /** Items of unknown kinds may hold anything. */
  readonly unknownKinds: readonly string[];
  readonly clean: boolean;
  readonly readUnits: number;
}

/** The next run continues after this many passes. */
const mostPasses = 4;

const findingsAtOnce = 10;

/**
 * Erases a person, or only counts in a dry run. Is idempotent, and may stop anywhere. Memory holds one page per scan
 * segment, and found dispatch ids. Rejects when a store cannot be reached.
 */
export async function erasePerson(erasing: Erasing, ports: ErasePorts): Promise<Erased> {
  const run = new Run(erasing, ports);
  await run.recall();
  let passes = 0;
  let found = true;
  while (found && passes < mostPasses) {
    passes += 1;
    found = await run.pass();
  }
  const erased = run.result(passes, !found);
  if (erased.clean && erased.underWay === 0) await run.forget();
  return erased;
}

interface InDispatch {
  readonly indexes: Set<number>;
  /** Messages that were pending when they were first looked at: this run's mark ends them. */
  readonly pending: Set<number>;
  /** Messages that a worker had at the last look. */
  readonly underWay: Set<number>;
}

class Run {
  readonly #erasing: Erasing;
  readonly #ports: ErasePorts;
  /** The ids are in all spellings, because clients spell numbers differently. */
  readonly #ids: Set<string>;
  readonly #dispatches = new Map<string, InDispatch>();
  readonly #changed = Object.fromEntries(places.map((place) => [place, 0])) as Record<Place, number>;
  readonly #unknown = new Set<string>();
  #seen = new Map<string, Set<number>>();
  #foundInPass = 0;
  #readUnits = 0;

  constructor(erasing: Erasing, ports: ErasePorts) {
    this.#erasing = erasing;
    this.#ports = ports;
    this.#ids = new Set([...erasing.ids].flatMap(numberSpellings));
  }

  /** Reads what a dead erasure of these ids had learned. */
  async recall(): Promise<void> {
    for (const id of this.#erasing.ids) this.#add(await this.#ports.learnedIds.of(id));
  }

  async forget(): Promise<void> {
    if (!this.#ports.rewriter.writes || this.#linkedIds() === 0) return;
    for (const id of this.#erasing.ids) await this.#ports.learnedIds.forget(id);
  }

  async #learn(ids: readonly string[]): Promise<void> {
    const news = ids.filter((id) => !this.#ids.has(id));
    if (news.length === 0) return;
    const { rewriter, learnedIds } = this.#ports;
    if (rewriter.writes) for (const id of this.#erasing.ids) await learnedIds.note(id, news);
    this.#add(news);
  }

  #add(ids: readonly string[]): void {
    for (const id of ids.flatMap(numberSpellings)) this.#ids.add(id);
  }

  /** Spellings of one number count once. */
  #linkedIds(): number {
    const [given, all] = [this.#erasing.ids, this.#ids].map((ids) => new Set([...ids].map(canonicalNumber)).size);
    return (all ?? 0) - (given ?? 0);
  }

  /**
   * Tells whether another pass may find more, because this one wrote or learned an id. A dry run would find the same
   * again.
   */
  async pass(): Promise<boolean> {
    const { rewriter, scanMessages, scanEvents } = this.#ports;
    const idsBefore = this.#ids.size;
    if (!rewriter.writes) for (const place of places) this.#changed[place] = 0;
    this.#foundInPass = 0;
    this.#seen = new Map();
    this.#readUnits += await scanMessages((items) =>
      forEachConcurrently(items, findingsAtOnce, (item) => this.#inMessages(item)),
    );
    const events = { ...this.#erasing, ids: new Set(this.#ids) };
    this.#readUnits += await scanEvents(events, (items) =>
      forEachConcurrently(items, findingsAtOnce, (item) => this.#inEvents(item)),
    );
    return this.#ids.size > idsBefore || (rewriter.writes && this.#foundInPass > 0);
  }

  result(passes: number, clean: boolean): Erased {
    const dispatches = [...this.#dispatches.values()];
    const sum = (of: (dispatch: InDispatch) => number) =>
      dispatches.reduce((total, dispatch) => total + of(dispatch), 0);
    return {
      ...{ passes, dispatches: dispatches.length, clean, readUnits: this.#readUnits, changed: this.#changed },
      messages: sum(({ indexes }) => indexes.size),
      pending: sum(({ pending }) => pending.size),
      underWay: sum(({ underWay }) => underWay.size),
      linkedIds: this.#linkedIds(),
      unknownKinds: [...this.#unknown].sort(),
    };
  }

  async #inMessages(item: Item): Promise<void> {
    const found = personDataIn(item, this.#ids, this.#erasing.clientId);
    if (found === undefined) return;
    if (found.kind === 'gone') await this.#learn(found.linked);
    if (found.kind === 'unknown') this.#unknown.add(found.prefix);
    else if (found.kind === 'dispatch') await this.#inDispatch(found);
    else if (await this.#changedItem(item, found)) this.#count(found.place);
  }

  async #changedItem(
    item: Item,
    found: Exclude<PersonData, { readonly kind: 'dispatch' | 'unknown' }>,
  ): Promise<boolean> {
    const { rewriter, tables } = this.#ports;
    if (found.kind === 'changed') return await rewriter.rewrite(tables.messages, item, () => found.change);
    if (found.kind === 'pair') return await rewriter.forgetPairs(tables.messages, item, found.hashes);
    return await rewriter.remove(tables.messages, item, found.place === 'optOutRows' ? 'recipient' : 'by');
  }

  /** Several items name the same dispatch; this pass handles each recipient once. */
  async #inDispatch({ dispatchId, indexes }: Extract<PersonData, { readonly kind: 'dispatch' }>): Promise<void> {
    const seen = this.#seen.get(dispatchId) ?? new Set();
    const open = indexes.filter((index) => !seen.has(index));
    if (open.length === 0) return;
    this.#seen.set(dispatchId, new Set([...seen, ...open]));
    const inDispatch = { dispatchId, indexes: open, ids: this.#ids, clientId: this.#erasing.clientId };
    const erased = await this.#ports.eraseInDispatch(inDispatch, (others) => this.#learn(others));
    if (erased === undefined) return;
    for (const [place, count] of Object.entries(erased.changed)) this.#count(place as Place, count);
    const known = this.#dispatches.get(dispatchId) ?? { indexes: new Set(), pending: new Set(), underWay: new Set() };
    this.#dispatches.set(dispatchId, known);
    for (const index of erased.pending) if (!known.indexes.has(index)) known.pending.add(index);
    for (const index of erased.indexes) {
      known.indexes.add(index);
      known.underWay.delete(index);
    }
    for (const index of erased.underWay) known.underWay.add(index);
  }

  async #inEvents(item: Item): Promise<void> {
    const { rewriter, tables } = this.#ports;
    const text = item['event'];
    const left = typeof text === 'string' ? anonymizedEvent(text, this.#ids) : undefined;
    if (left === undefined) return;
    const isDone =
      left === 'gone'
        ? await rewriter.remove(tables.webhooks, item, 'event')
        : await rewriter.rewrite(tables.webhooks, item, (seen) => eventChange(seen, this.#ids));
    if (isDone) this.#count(String(item['sk']).startsWith('WAITS#') ? 'waitingEvents' : 'events');
  }

  #count(place: Place, times = 1): void {
    this.#changed[place] += times;
    this.#foundInPass += times;
  }
}

function eventChange({ event }: Item, ids: PersonIds): Readonly<Record<string, unknown>> | undefined {
  const left = typeof event === 'string' ? anonymizedEvent(event, ids) : undefined;
  return left === undefined || left === 'gone' ? undefined : left;
}

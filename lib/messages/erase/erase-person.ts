import type { Item } from '../../aws/dynamodb-batch.ts';
import { sideBySide } from '../../aws/side-by-side.ts';
import { oneSpelling, spellingsOf } from '../../opt-outs/one-spelling.ts';
import { type ErasePorts, type Erasing, type JobPlace, jobPlaces } from './erase-ports.ts';
import { type Found, foundIn } from './found-in.ts';
import { eventWithout } from './nameless-event.ts';
import type { PersonIds } from './person.ts';

/*
 * Erasing a person (D60): every place that holds a number or user id of the person, or parameters that were sent to it.
 *
 *   messages   RECIPIENTS, JOB `to`     addresses: null in the place of each
 *              PARAMS                   address and parameters: nothing in the place of each
 *              JOB, ACCEPTED            `attends` where it spells the person; with the header, once all of the job are erased
 *              slices                   platform ids and texts of their outcomes: the ids spell numbers, texts may
 *              RECEIPTS                 the same, and how the platform names the person; what they prove stays
 *              IDEMPOTENCY              a user id in the warning that is answered again; of the request only its hash is there
 *              USERID                   the word that one id has become another: gone
 *              PACE                     pairs that wait: a plain digest, which a reader who tries all numbers finds
 *              OPTOUTS                  the row that lists the person: gone. The person's item, a keyed digest, refuses as before
 *              DISPATCHES, QUESTIONS, HOLDS, DOUBT, BREAKER, PERSON, WROTE, SENT    name no person
 *   webhooks   EVENT, WAITS             `to`, `user_id`, `wa_id`, text and platform id; gone where nothing is left to tell
 *   templates, channels, directory, credentials, rates, redirects, budgets    hold nothing of recipients
 *
 * No index leads from a number to its items, and none is kept for this: a scan of both tables finds them. What an item says by
 * itself is judged there (found-in.ts); where it names a recipient of a job, all items of that job are read by their keys. A pass
 * finds what was not written yet when the one before went by, and what belongs to other ids of the person that it has learned: it is
 * repeated until one finds nothing.
 *
 * What a pass learns is written down before the items go that taught it, and forgotten at the end: without that a run that died could
 * not be repeated for ids that were not given. What comes later comes without the person: the job's mark is read by workers after each
 * claim (barred.ts) and by each run of receipts (countable.ts). Copies that no table has are named to the operator (infra/operate).
 */

const otherPlaces = ['idempotencyKeys', 'replacedIds', 'pairs', 'optOutRows', 'events', 'waitingEvents'] as const;
type Place = JobPlace | (typeof otherPlaces)[number];
export const places: readonly Place[] = [...jobPlaces, ...otherPlaces];

/** What an erasing came to. */
export interface Erased {
  /** How often all was read; the last time nothing was found, unless it says so. */
  readonly passes: number;
  readonly jobs: number;
  readonly messages: number;
  /** Messages that were not sent yet: they end `failed`, `erased`. */
  readonly pending: number;
  /** Messages that workers had at the last look: another run, minutes later, looks at their jobs again. */
  readonly underWay: number;
  /** Items that were changed or removed, by place. */
  readonly changed: Readonly<Record<Place, number>>;
  /** Ids that were not given, and are the same person's by the platform's word: erased as well. */
  readonly linkedIds: number;
  /** Kinds of items that are not known here: they may hold anything. */
  readonly unknownKinds: readonly string[];
  /** The last pass has found nothing more. */
  readonly clean: boolean;
  readonly readUnits: number;
}

/** A pass that still finds something after so many is told; the next run goes on. */
const mostPasses = 4;

/** What one page has found is worked off so much at once. */
const findingsAtOnce = 10;

/**
 * Erases a person, or counts what would be erased where the rewriter writes nothing. May be ended anywhere and repeated: what is done
 * is not found again. In memory are a page of each segment, and the ids of the jobs that were found. Throws when a store cannot be reached.
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

interface InJob {
  readonly indexes: Set<number>;
  pending: number;
  underWay: number;
}

class Run {
  readonly #erasing: Erasing;
  readonly #ports: ErasePorts;
  /** In every spelling, for what was sent to a number names it as its client did. */
  readonly #ids: Set<string>;
  readonly #jobs = new Map<string, InJob>();
  readonly #changed = Object.fromEntries(places.map((place) => [place, 0])) as Record<Place, number>;
  readonly #unknown = new Set<string>();
  #seen = new Map<string, Set<number>>();
  #foundInPass = 0;
  #readUnits = 0;

  constructor(erasing: Erasing, ports: ErasePorts) {
    this.#erasing = erasing;
    this.#ports = ports;
    this.#ids = new Set([...erasing.ids].flatMap(spellingsOf));
  }

  /** What an erasing that died had learned of these ids. */
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
    for (const id of ids.flatMap(spellingsOf)) this.#ids.add(id);
  }

  /** Spellings of one number are one id. */
  #linkedIds(): number {
    const [given, all] = [this.#erasing.ids, this.#ids].map((ids) => new Set([...ids].map(oneSpelling)).size);
    return (all ?? 0) - (given ?? 0);
  }

  /** Whether another pass may find more: one that wrote something, or has learned of another id. A dry run finds the same again. */
  async pass(): Promise<boolean> {
    const { rewriter, scanMessages, scanEvents } = this.#ports;
    const idsBefore = this.#ids.size;
    if (!rewriter.writes) for (const place of places) this.#changed[place] = 0;
    this.#foundInPass = 0;
    this.#seen = new Map();
    this.#readUnits += await scanMessages((items) =>
      sideBySide(items, findingsAtOnce, (item) => this.#inMessages(item)),
    );
    const events = { ...this.#erasing, ids: new Set(this.#ids) };
    this.#readUnits += await scanEvents(events, (items) =>
      sideBySide(items, findingsAtOnce, (item) => this.#inEvents(item)),
    );
    return this.#ids.size > idsBefore || (rewriter.writes && this.#foundInPass > 0);
  }

  result(passes: number, clean: boolean): Erased {
    const jobs = [...this.#jobs.values()];
    const sum = (of: (job: InJob) => number) => jobs.reduce((total, job) => total + of(job), 0);
    return {
      ...{ passes, jobs: jobs.length, clean, readUnits: this.#readUnits, changed: this.#changed },
      messages: sum(({ indexes }) => indexes.size),
      pending: sum(({ pending }) => pending),
      underWay: sum(({ underWay }) => underWay),
      linkedIds: this.#linkedIds(),
      unknownKinds: [...this.#unknown].sort(),
    };
  }

  async #inMessages(item: Item): Promise<void> {
    const found = foundIn(item, this.#ids, this.#erasing.clientId);
    if (found === undefined) return;
    if (found.kind === 'gone') await this.#learn(found.linked);
    if (found.kind === 'unknown') this.#unknown.add(found.prefix);
    else if (found.kind === 'job') await this.#inJob(found);
    else if (await this.#changedItem(item, found)) this.#count(found.place);
  }

  async #changedItem(item: Item, found: Exclude<Found, { readonly kind: 'job' | 'unknown' }>): Promise<boolean> {
    const { rewriter, tables } = this.#ports;
    if (found.kind === 'changed') return await rewriter.rewrite(tables.messages, item, () => found.change);
    if (found.kind === 'pair') return await rewriter.forgetPairs(tables.messages, item, found.hashes);
    return await rewriter.remove(tables.messages, item, found.place === 'optOutRows' ? 'recipient' : 'by');
  }

  /** Items of one job are found by several of its items: what was done in this pass is not done again. */
  async #inJob({ jobId, indexes }: Extract<Found, { readonly kind: 'job' }>): Promise<void> {
    const seen = this.#seen.get(jobId) ?? new Set();
    const open = indexes.filter((index) => !seen.has(index));
    if (open.length === 0) return;
    this.#seen.set(jobId, new Set([...seen, ...open]));
    const inJob = { jobId, indexes: open, ids: this.#ids, clientId: this.#erasing.clientId };
    const erased = await this.#ports.eraseInJob(inJob, (others) => this.#learn(others));
    if (erased === undefined) return;
    for (const [place, count] of Object.entries(erased.changed)) this.#count(place as Place, count);
    const known = this.#jobs.get(jobId);
    const news = open.some((index) => !known?.indexes.has(index));
    this.#jobs.set(jobId, {
      indexes: new Set([...(known?.indexes ?? []), ...open]),
      pending: (known?.pending ?? 0) + (news ? erased.pending : 0),
      underWay: erased.underWay,
    });
  }

  async #inEvents(item: Item): Promise<void> {
    const { rewriter, tables } = this.#ports;
    const text = item['event'];
    const left = typeof text === 'string' ? eventWithout(text, this.#ids) : undefined;
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
  const left = typeof event === 'string' ? eventWithout(event, ids) : undefined;
  return left === undefined || left === 'gone' ? undefined : left;
}

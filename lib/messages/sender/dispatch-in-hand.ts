import { composedRecipient } from '../accept/composed-recipient.ts';
import type { BacklogEntry, PartProgress } from '../dispatch/backlog.ts';
import { type CallFacts, callFactsOf, type TriedRecipient } from '../dispatch/call-facts.ts';
import type { StoredRecipient } from '../dispatch/head.ts';
import type { DispatchItemState } from '../dispatch/item.ts';
import { lastCallBeforeEndMs, lotAt, openingStateAt } from '../dispatch/lots.ts';
import { placeInSlice, type Slice, sliceSize, slicesIn } from '../dispatch/slice.ts';
import type { StoredDispatch } from '../dispatch/whole-dispatch.ts';
import type { SliceEnd } from '../send/claims/run-slice.ts';
import { isOfPart, poisonedUntilMs, type SenderPart } from './entry-progress.ts';
import { afterEnd, type OpenSlice, openSliceOf } from './open-slice.ts';
import { RecipientPages } from './recipient-pages.ts';
import type { Revalidation } from './revalidate-dispatch.ts';
import type { SenderPorts } from './sender-ports.ts';
import { isToldIn, toldAbove } from './told-slices.ts';

/** For which part a dispatch was taken, and what the part had done of it before. */
interface TakenFor {
  readonly part: SenderPart;
  readonly before: Pick<PartProgress, 'floor' | 'told' | 'failures'>;
  readonly limitPerSecond: number;
  readonly nowMs: number;
}

/** A stop is stored within this time after it was announced, or not at all. */
const announcedForMs = 60_000;

type Sendable = Extract<Revalidation, { readonly kind: 'sendable' }>;

/** A dispatch that a sender works on, with all that it knows of its part's slices. */
export class DispatchInHand {
  entry: BacklogEntry;
  state: DispatchItemState;
  /** What its messages are called with. It has no slices. */
  facts: CallFacts;
  /** The rest of a stopped dispatch is being ended, or was. */
  rest: 'open' | 'ending' | 'ended' = 'open';
  readonly dispatch: StoredDispatch;
  #judged: Sendable;
  readonly #limitPerSecond: number;
  readonly #takenMs: number;
  /** Its entry had these news when it was taken. */
  readonly #newsMs: number | undefined;
  readonly #open = new Map<number, OpenSlice>();
  readonly #busy = new Set<number>();
  readonly #slices: number;
  /** The part's slices that had not all ended when it was taken. */
  readonly #own: number[] = [];
  /** What could not be read waits until then, after so many tries. */
  #damage: { readonly failures: number; readonly untilMs: number };
  readonly #pages: RecipientPages;

  constructor(
    entry: BacklogEntry,
    found: { readonly dispatch: StoredDispatch; readonly state: DispatchItemState; readonly slices: readonly Slice[] },
    judged: Sendable,
    { part, before, limitPerSecond, nowMs }: TakenFor,
  ) {
    this.entry = entry;
    this.#pages = new RecipientPages(entry.dispatchId);
    this.dispatch = found.dispatch;
    this.state = found.state;
    this.#takenMs = nowMs;
    this.#newsMs = entry.newsMs;
    this.#judged = judged;
    this.#limitPerSecond = limitPerSecond;
    this.#damage = { failures: before.failures ?? 0, untilMs: 0 };
    this.facts = this.#factsOf(judged);
    this.#slices = slicesIn(found.dispatch.head);
    const known = new Map(found.slices.map((slice) => [slice.key.slice, slice]));
    for (let slice = before.floor; slice < this.#slices; slice += 1) {
      if (!isOfPart(part, entry.dispatchId, slice)) continue;
      this.#own.push(slice);
      if (isToldIn(before.told, slice)) continue;
      const stored = known.get(slice);
      this.#put(stored === undefined ? { slice, try: 0, dueMs: 0 } : openSliceOf(stored, nowMs));
    }
  }

  get dispatchId(): string {
    return this.dispatch.head.dispatchId;
  }

  /** Returns the news that need no other look: a stop is the last one, and news come before it (stop-news.ts). */
  get seenNewsMs(): number | undefined {
    if (this.state.stop !== undefined) return this.entry.newsMs;
    return this.#newsMs !== undefined && this.#takenMs - this.#newsMs > announcedForMs ? this.#newsMs : undefined;
  }

  /** Sends by this judgement of its template from now on. */
  judgedAgain(judged: Sendable): void {
    this.#judged = judged;
    this.facts = this.#factsOf(judged);
  }

  #factsOf({ head, judgedMs }: Sendable): CallFacts {
    const { lots } = this.dispatch;
    const facts = callFactsOf(head, { limitPerSecond: this.#limitPerSecond });
    return { ...facts, lots, composedMs: judgedMs };
  }

  /** Returns the first slice that is due, which is the caller's until `ended` or `failed`. */
  take(nowMs: number): OpenSlice | undefined {
    for (const open of this.#open.values()) {
      if (this.#busy.has(open.slice) || this.#dueMs(open, nowMs) > nowMs) continue;
      this.#busy.add(open.slice);
      return open;
    }
    return undefined;
  }

  /** The caller gives a slice back that it has not begun. */
  giveBack({ slice }: OpenSlice): void {
    this.#busy.delete(slice);
  }

  /** Notes how a try went; `isTold` says that its endings are told. */
  ended(open: OpenSlice, end: SliceEnd, { isTold, nowMs }: { readonly isTold: boolean; readonly nowMs: number }): void {
    const { slice } = open;
    this.#busy.delete(slice);
    const next = afterEnd(open, end, { isTold, nowMs });
    if (next === undefined) this.#open.delete(slice);
    else this.#put(next);
  }

  /**
   * The slice cannot be read: it waits, for longer each time, and all others go on. Returns true for the first of those
   * that wait together.
   */
  damaged(open: OpenSlice, nowMs: number): boolean {
    const isFirst = this.#damage.untilMs <= nowMs;
    const failures = this.#damage.failures + 1;
    if (isFirst) this.#damage = { failures, untilMs: poisonedUntilMs(failures, nowMs) };
    this.#busy.delete(open.slice);
    this.#put({ ...open, dueMs: this.#damage.untilMs, isDamaged: true });
    return isFirst;
  }

  /** These slices have ended with their dispatch, and are told. */
  over(slices: Iterable<number>): void {
    for (const slice of slices) this.#open.delete(slice);
  }

  /** Returns the open slices that no run of this sender works on. */
  get idle(): readonly OpenSlice[] {
    return [...this.#open.values()].filter(({ slice }) => !this.#busy.has(slice));
  }

  get isOver(): boolean {
    return this.#open.size === 0;
  }

  get isBusy(): boolean {
    return this.#busy.size > 0 || this.rest === 'ending';
  }

  /** Returns what the entry has to say, for whichever run is next: a slice in work is due. */
  progress(nowMs: number): PartProgress {
    const open = [...this.#open.values()];
    const floor = open.length === 0 ? this.#slices : Math.min(...open.map(({ slice }) => slice));
    const above = this.#own.filter((slice) => slice > floor);
    const told = toldAbove(above, (slice) => !this.#open.has(slice));
    const dueMs = this.isBusy || open.length === 0 ? nowMs : this.nextDueMs(nowMs);
    const failures = open.some(({ isDamaged }) => isDamaged) ? { failures: this.#damage.failures } : {};
    return { floor, told, dueMs, ...failures };
  }

  /** Returns when the next slice is due that is not in work. */
  nextDueMs(nowMs: number): number {
    let dueMs = Number.POSITIVE_INFINITY;
    for (const open of this.#open.values()) {
      if (!this.#busy.has(open.slice)) dueMs = Math.min(dueMs, this.#dueMs(open, nowMs));
      if (dueMs <= nowMs) break;
    }
    return dueMs;
  }

  /** Returns the recipients of a slice by place, composed. Throws when they are gone. */
  async recipients(open: OpenSlice, ports: SenderPorts): Promise<ReadonlyMap<number, TriedRecipient>> {
    const { dispatchId, waitsMs } = { ...this.dispatch, dispatchId: this.dispatchId };
    const composed = new Map<number, TriedRecipient>();
    for (const index of this.indexesOf(open)) {
      const stored = await this.recipient(index, ports);
      const log = ports.process.log;
      const one = this.#judged.fits(stored)
        ? composedRecipient(this.#judged.plan, stored, { dispatchId, index }, { ...ports, log })
        : { index, to: stored.to, unfit: true as const };
      const waitMs = open.try === 0 ? waitsMs.get(index) : undefined;
      const notBefore = waitMs === undefined ? {} : { notBeforeMs: ports.process.nowMs() + waitMs };
      composed.set(placeInSlice(index), { ...one, ...notBefore });
    }
    return composed;
  }

  sizeOf(slice: number): number {
    return Math.min(sliceSize, this.dispatch.head.total - slice * sliceSize);
  }

  /** Returns the indexes that the next try of a slice covers. */
  indexesOf({ slice, places }: Pick<OpenSlice, 'slice' | 'places'>): number[] {
    const all = places ?? Array.from({ length: this.sizeOf(slice) }, (_, place) => place);
    return all.map((place) => slice * sliceSize + place);
  }

  async recipient(index: number, { dispatches }: Pick<SenderPorts, 'dispatches'>): Promise<StoredRecipient> {
    return await this.#pages.at(index, dispatches);
  }

  #put(open: OpenSlice): void {
    this.#open.set(open.slice, open);
  }

  /** A slice whose recipients are all outside of their openings is due at the first one (D56). */
  #dueMs(open: OpenSlice, nowMs: number): number {
    // A stop ends what waits; only another run's claim is awaited (D53).
    if (open.isDamaged) return open.dueMs;
    if (this.state.stop !== undefined && open.met === undefined) return Math.min(open.dueMs, nowMs);
    const { lots } = this.dispatch;
    if (lots === undefined || open.dueMs > nowMs) return open.dueMs;
    const { expiresAtMs = Number.POSITIVE_INFINITY } = this.dispatch.head;
    let opensMs = Number.POSITIVE_INFINITY;
    for (const index of this.indexesOf(open)) {
      const standing = openingStateAt(lotAt(lots, index).open, nowMs, lastCallBeforeEndMs);
      if (standing.kind !== 'closed' || standing.opensAtMs >= expiresAtMs) return open.dueMs;
      opensMs = Math.min(opensMs, standing.opensAtMs);
    }
    return opensMs;
  }
}

/** A try needs this of its dispatch, which a sender has read, or a queue message has brought. */
export type TriedDispatch = Pick<DispatchInHand, 'dispatchId' | 'facts' | 'state' | 'sizeOf'>;

import { errorName } from '../../observe/error-name.ts';
import type { BacklogEntry, PartProgress } from '../dispatch/backlog.ts';
import { noAnswerCode } from '../holds/hold.ts';
import type { DispatchInHand } from './dispatch-in-hand.ts';
import { judge, takeDispatch } from './dispatch-taking.ts';
import {
  doneMs,
  dueMsOfPart,
  isPartDone,
  partMoved,
  poisonedUntilMs,
  progressOf,
  type SenderPart,
  slicesIn,
} from './entry-progress.ts';
import { standingOf } from './hand-standing.ts';
import { heldUntilMs } from './held-until.ts';
import type { NumberView } from './number-view.ts';
import type { SenderPorts } from './sender-ports.ts';
import { ServedLeast } from './served-least.ts';
import type { NextSlice, SliceOutcome } from './slice-starter.ts';
import { tellStoppedRest } from './stopped-rest.ts';
import { Troubles } from './troubles.ts';

/** So many dispatches are read at a time. */
const mostTaking = 8;
/** So many dispatches are in memory; others are taken as these end. */
const mostInHand = 500;
/** A floor moves no more often while its dispatch goes on. */
const floorEveryMs = 5_000;
/** After so many lost leases in a row a run takes one dispatch, by turn. */
const lostTogether = 2;
/** A shorter outage ends before a client would read about it. */
const toldAfterMs = 30_000;

/** The dispatches of a number's backlog that a sender has taken in hand, and what each of them waits for. */
export class DispatchesInHand {
  /** So many leases were lost in a row. */
  lost = 0;
  readonly #part: SenderPart;
  readonly #number: NumberView;
  readonly #changed: () => void;
  readonly #ports: SenderPorts;
  readonly #entries = new Map<string, BacklogEntry>();
  readonly #hands = new Map<string, DispatchInHand>();
  readonly #work = new Map<string, Promise<void>>();
  readonly #troubles = new Troubles();
  /** A run could do nothing with these, and their entries say how often that was so. */
  readonly #poisoned = new Map<string, Pick<PartProgress, 'dueMs' | 'failures'>>();
  readonly #over = new Set<string>();
  readonly #movedMs = new Map<string, number>();
  readonly #served = new Map<string, ServedLeast>();

  constructor(part: SenderPart, number: NumberView, changed: () => void, ports: SenderPorts) {
    this.#part = part;
    this.#number = number;
    this.#changed = changed;
    this.#ports = ports;
  }

  /** Notes what the backlog has now. */
  saw(entries: readonly BacklogEntry[]): void {
    this.#entries.clear();
    // A look may have begun before this run removed an entry.
    const known = entries.filter(({ dispatchId }) => !this.#over.has(dispatchId));
    for (const entry of this.#alone(known)) this.#entries.set(entry.dispatchId, entry);
    this.#dropStale();
  }

  /** Takes what is due in hand before its turn comes: a newcomer must not wait for its reads as well. */
  takeDue(): void {
    const due = this.ready().toSorted((one, other) => Number(other.front ?? false) - Number(one.front ?? false));
    for (const { dispatchId } of due) if (!this.#hands.has(dispatchId)) this.#take(dispatchId);
  }

  #dropStale(): void {
    for (const [dispatchId, hand] of this.#hands) {
      const entry = this.#entries.get(dispatchId);
      if (entry === undefined) {
        if (!hand.isBusy) this.#hands.delete(dispatchId);
        continue;
      }
      hand.entry = entry;
      // What was written to the dispatch is read with all the rest of it.
      if (entry.newsMs !== hand.seenNewsMs && !hand.isBusy && !this.#work.has(dispatchId))
        this.#hands.delete(dispatchId);
    }
  }

  /** A dispatch that kills processes hurts itself alone. */
  #alone(entries: readonly BacklogEntry[]): readonly BacklogEntry[] {
    const open = entries.filter((entry) => this.#hands.has(entry.dispatchId) || !isPartDone(entry, this.#part));
    if (this.lost < lostTogether || open.length === 0) return open;
    return open.slice(this.lost % open.length).slice(0, 1);
  }

  /** Returns the dispatches that may have a slice to start, and sees to those that need something else first. */
  ready(): readonly BacklogEntry[] {
    const { nowMs } = this.#ports.process;
    return [...this.#entries.values()].filter((entry) => this.#dueMs(entry) <= nowMs());
  }

  /** Any dispatch may ask for the platform as a whole. */
  get any(): DispatchInHand | undefined {
    return this.#hands.values().next().value;
  }

  /** Returns a slice of the dispatch that was served least, of one client. */
  nextOf(entries: readonly BacklogEntry[]): NextSlice | undefined {
    const [first] = entries;
    if (first === undefined) return undefined;
    const name = String(first.clientId);
    const served = this.#served.get(name) ?? new ServedLeast();
    this.#served.set(name, served);
    for (const dispatchId of served.ordered(entries.map((entry) => entry.dispatchId))) {
      const hand = this.#hands.get(dispatchId);
      if (hand === undefined) this.#take(dispatchId);
      if (hand?.isOver) this.#do(dispatchId, () => this.#end(hand));
      if (hand === undefined || !this.#isFree(hand)) continue;
      const open = hand.take(this.#ports.process.nowMs());
      if (open === undefined) continue;
      const size = hand.indexesOf(open).length;
      served.serve(dispatchId, size);
      return { hand, open, size };
    }
    return undefined;
  }

  #take(dispatchId: string): void {
    const entry = this.#entries.get(dispatchId);
    if (entry === undefined || this.#work.size >= mostTaking || this.#hands.size >= mostInHand) return;
    this.#do(dispatchId, async () => {
      const taken = await takeDispatch(entry, this.#part, this.#ports);
      if (taken === 'over') {
        await this.#ports.backlog.remove(entry);
        this.#entries.delete(dispatchId);
      } else if (taken === 'undecided') this.#troubles.wait(dispatchId, this.#laterMs(5_000));
      else {
        const { wabaId } = taken.facts;
        const { limitPerSecond } = taken.facts;
        this.#number.limitPerSecond = limitPerSecond;
        this.#number.saw(wabaId, (await this.#ports.dispatches.look({ wabaId, dispatchIds: [] })).holds);
        this.#hands.set(dispatchId, taken);
        if (taken.isOver) await this.#end(taken);
      }
    });
  }

  /** One thing at a time is done with a dispatch beside its slices. What fails is tried again later. */
  #do(dispatchId: string, what: () => Promise<void>): void {
    if (this.#work.has(dispatchId)) return;
    const doing = what()
      .catch((error: unknown) => this.#failed(dispatchId, error))
      .finally(() => {
        this.#work.delete(dispatchId);
        this.#changed();
      });
    this.#work.set(dispatchId, doing);
  }

  async #failed(dispatchId: string, error?: unknown): Promise<void> {
    const { log, nowMs } = this.#ports.process;
    if (error !== undefined) log('dispatch.unreadable', { dispatchId, error: errorName(error) });
    const entry = this.#entries.get(dispatchId);
    if (!this.#troubles.again(dispatchId, nowMs()) || entry === undefined) return;
    const known = progressOf(entry, this.#part);
    const failures = (known.failures ?? 0) + 1;
    const dueMs = poisonedUntilMs(failures, nowMs());
    this.#troubles.wait(dispatchId, dueMs);
    this.#poisoned.set(dispatchId, { dueMs, failures });
    await this.#moved(entry, { ...known, dueMs, failures }).catch(() => undefined);
  }

  #laterMs(ms: number): number {
    return this.#ports.process.nowMs() + ms;
  }

  /** Returns whether slices of the dispatch may be claimed; sees to what it needs before (D46, D53). */
  #isFree(hand: DispatchInHand): boolean {
    const { dispatchId, facts } = hand;
    if (this.#work.has(dispatchId)) return false;
    const standing = standingOf(hand, this.#number.holdsOf(facts.wabaId), this.#ports.process.nowMs());
    if (standing.kind === 'stopped') this.#endRest(hand);
    if (standing.kind === 'outdated') this.#do(dispatchId, () => judge(hand, this.#ports));
    if (standing.kind === 'held') this.#park(hand, standing.reason);
    return standing.kind === 'free';
  }

  #park(hand: DispatchInHand, reason: Parameters<ReturnType<SenderPorts['holds']['ofSlice']>['park']>[1]): void {
    if (hand.state.parked !== undefined || hand.state.stop !== undefined) return;
    const holds = this.#ports.holds.ofSlice((wabaId, seen) => this.#number.saw(wabaId, seen));
    hand.state = { ...hand.state, parked: { ...reason, sinceMs: this.#ports.process.nowMs() } };
    this.#do(hand.dispatchId, () => holds.park(hand.facts, reason, {}));
  }

  #endRest(hand: DispatchInHand): void {
    hand.rest = 'ending';
    this.#do(hand.dispatchId, async () => {
      try {
        await tellStoppedRest(hand, () => this.#move(hand), this.#ports);
        hand.rest = 'ended';
      } finally {
        if (hand.rest === 'ending') hand.rest = 'open';
      }
      if (hand.isOver) await this.#end(hand);
    });
  }

  /** Notes how a slice went, moves the floor, and ends the dispatch with its last slice. */
  afterSlice({ hand, open }: NextSlice, outcome: SliceOutcome): void {
    const nowMs = this.#ports.process.nowMs();
    const { dispatchId } = hand;
    if (outcome.kind === 'run') {
      hand.ended(open, outcome.end, { ...outcome, nowMs });
      this.#troubles.over(dispatchId);
      this.#poisoned.delete(dispatchId);
      if (hand.isOver) this.#do(dispatchId, () => this.#end(hand));
      else if ((this.#movedMs.get(dispatchId) ?? 0) + floorEveryMs <= nowMs) {
        this.#do(dispatchId, () => this.#move(hand));
      }
    } else {
      hand.giveBack(open);
      if (outcome.kind === 'failed') void this.#failed(dispatchId);
      else this.#waitForPlatform(hand, outcome.sinceMs);
    }
    this.#changed();
  }

  #waitForPlatform(hand: DispatchInHand, sinceMs: number): void {
    this.#troubles.wait(hand.dispatchId, this.#laterMs(2_000));
    if (sinceMs + toldAfterMs > this.#ports.process.nowMs()) return;
    this.#park(hand, { code: noAnswerCode, scope: 'platform' });
  }

  async #move(hand: DispatchInHand): Promise<void> {
    const nowMs = this.#ports.process.nowMs();
    this.#movedMs.set(hand.dispatchId, nowMs);
    const progress = { ...hand.progress(nowMs), ...this.#poisoned.get(hand.dispatchId) };
    await this.#moved(hand.entry, progress, hand.seenNewsMs);
  }

  async #moved(
    entry: BacklogEntry,
    progress: PartProgress,
    seenNewsMs = entry.newsMs,
  ): Promise<BacklogEntry | undefined> {
    const known = progressOf(entry, this.#part);
    if (entry.parts !== undefined && known.floor === progress.floor && known.dueMs === progress.dueMs) return entry;
    const moved = await this.#ports.backlog.change(entry, partMoved({ part: this.#part, progress, seenNewsMs }));
    if (moved !== undefined && this.#entries.has(entry.dispatchId)) this.#entries.set(entry.dispatchId, moved);
    const hand = this.#hands.get(entry.dispatchId);
    if (moved !== undefined && hand !== undefined) hand.entry = moved;
    return moved;
  }

  /** Tells the end of a dispatch whose slices have all ended and are told, then removes its entry. */
  async #end(hand: DispatchInHand): Promise<void> {
    const { backlog, tellEnd } = this.#ports;
    const { dispatch, entry, dispatchId } = hand;
    if (this.#part.of > 1) {
      const own = { floor: slicesIn(dispatch.head), dueMs: doneMs };
      const moved = await this.#moved(entry, own, hand.seenNewsMs);
      const isLast = moved?.parts?.every(({ floor }) => floor >= slicesIn(dispatch.head)) === true;
      if (!isLast) return void this.#forget(dispatchId);
    }
    if (!(await tellEnd(dispatch))) throw new Error('a dispatch is over whose report has pending messages');
    await backlog.remove(hand.entry);
    this.#over.add(dispatchId);
    this.#forget(dispatchId);
  }

  #forget(dispatchId: string): void {
    this.#hands.delete(dispatchId);
    this.#entries.delete(dispatchId);
  }

  /** Returns when something is due next, whatever it is. */
  nextDueMs(): number {
    if (this.#work.size > 0) return this.#ports.process.nowMs();
    return Math.min(Number.POSITIVE_INFINITY, ...[...this.#entries.values()].map((entry) => this.#dueMs(entry)));
  }

  #dueMs(entry: BacklogEntry): number {
    const nowMs = this.#ports.process.nowMs();
    const hand = this.#hands.get(entry.dispatchId);
    const trouble = this.#troubles.untilMs(entry.dispatchId);
    const own = hand === undefined ? dueMsOfPart(entry, this.#part) : this.#dueMsOf(hand, nowMs);
    return Math.max(trouble, own);
  }

  #dueMsOf(hand: DispatchInHand, nowMs: number): number {
    if (hand.isOver || (hand.state.stop !== undefined && hand.rest === 'open')) return nowMs;
    const holds = this.#number.holdsOf(hand.facts.wabaId);
    return Math.max(
      hand.nextDueMs(nowMs),
      heldUntilMs(hand.state, { holds, breaker: this.#number.breaker }, hand.facts, nowMs),
    );
  }

  /** Writes what the next sender must know of each dispatch in hand. Never throws: it would find out by itself. */
  async leave(): Promise<void> {
    await Promise.all(this.#work.values());
    await Promise.all(
      [...this.#hands.values()].map(async (hand) => {
        try {
          if (hand.isOver) await this.#end(hand);
          else await this.#move(hand);
        } catch (error) {
          this.#ports.process.log('send.error', { dispatchId: hand.dispatchId, error: errorName(error) });
        }
      }),
    );
  }
}

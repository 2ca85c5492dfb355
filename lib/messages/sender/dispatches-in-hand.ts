import { errorName } from '../../observe/error-name.ts';
import type { BacklogEntry } from '../dispatch/backlog.ts';
import { slicesIn } from '../dispatch/slice.ts';
import { letWait } from './damaged-slices.ts';
import type { DispatchInHand } from './dispatch-in-hand.ts';
import { askedAgainMs, judge, stopInHand, takeDispatch } from './dispatch-taking.ts';
import { doneMs, dueMsOfPart, type SenderPart } from './entry-progress.ts';
import { Errands } from './errands.ts';
import { standingOf } from './hand-standing.ts';
import { HeldHands } from './held-hands.ts';
import { heldUntilMs, heldUntilOfEntry, parkedEntryOf } from './held-until.ts';
import type { NumberView } from './number-view.ts';
import { endPause } from './pause.ts';
import { givenUpFor, mostInHand } from './place-in-hand.ts';
import { SeenEntries } from './seen-entries.ts';
import type { SenderPorts } from './sender-ports.ts';
import { ServedLeast } from './served-least.ts';
import type { NextSlice, SliceOutcome } from './slice-starter.ts';
import { tellStoppedRest } from './stopped-rest.ts';

/** So many dispatches are read at a time. */
const mostTaking = 8;
/** An announced stop is awaited by looks. */
const announcedAgainMs = 500;
/** A floor moves no more often while its dispatch goes on. */
const floorEveryMs = 5_000;

/** The dispatches of a number's backlog that a sender has taken in hand, and what each of them waits for. */
export class DispatchesInHand {
  readonly entries: SeenEntries;
  readonly #part: SenderPart;
  readonly #number: NumberView;
  readonly #ports: SenderPorts;
  readonly #errands: Errands;
  readonly #held: HeldHands;
  readonly #hands = new Map<string, DispatchInHand>();
  readonly #movedMs = new Map<string, number>();
  readonly #served = new Map<string, ServedLeast>();

  constructor(part: SenderPart, number: NumberView, changed: () => void, ports: SenderPorts) {
    this.#part = part;
    this.#number = number;
    this.#ports = ports;
    this.entries = new SeenEntries(part, ports.backlog);
    this.#errands = new Errands(part, this.entries, changed, ports.process);
    this.#held = new HeldHands(number, this.#errands, changed, ports);
  }

  /** Notes what the backlog has now. What was written to a dispatch is read with all the rest of it. */
  saw(entries: readonly BacklogEntry[]): void {
    this.entries.saw(entries);
    for (const [dispatchId, hand] of this.#hands) {
      const entry = this.entries.get(dispatchId);
      if (entry !== undefined) hand.entry = entry;
      const isStale = entry === undefined || entry.newsMs !== hand.seenNewsMs;
      if (isStale && !hand.isBusy && !this.#errands.isOn(dispatchId)) this.#hands.delete(dispatchId);
    }
  }

  /**
   * Takes what is due in hand before its turn comes, of each client one after the other: a newcomer must not wait for
   * its reads as well, nor for those of hundreds. What is in front comes first.
   */
  takeDue(): void {
    const due = this.ready().filter(({ dispatchId }) => !this.#hands.has(dispatchId));
    due.sort((one, other) => Number(other.front ?? false) - Number(one.front ?? false));
    const byClient = [...Map.groupBy(due, ({ clientId }) => clientId).values()];
    for (let at = 0; at < mostTaking; at += 1) for (const entries of byClient) this.#take(entries[at]);
  }

  /** Returns the dispatches that may have a slice to start, and those that need something else first. */
  ready(): readonly BacklogEntry[] {
    const nowMs = this.#ports.process.nowMs();
    return this.entries.all.filter((entry) => this.#dueMs(entry) <= nowMs);
  }

  /** Any dispatch may ask for the platform as a whole. */
  get any(): DispatchInHand | undefined {
    return this.#hands.values().next().value;
  }

  /** Returns a slice of the dispatch that was served least, of one client. */
  nextOf(entries: readonly BacklogEntry[]): Omit<NextSlice, 'isFront'> | undefined {
    const [first] = entries;
    if (first === undefined) return undefined;
    const name = String(first.clientId);
    const served = this.#served.get(name) ?? new ServedLeast();
    this.#served.set(name, served);
    for (const dispatchId of served.ordered(entries.map((entry) => entry.dispatchId))) {
      const hand = this.#hands.get(dispatchId);
      if (hand === undefined) this.#take(this.entries.get(dispatchId));
      if (hand?.isOver) this.#errands.do(hand, () => this.#end(hand));
      if (hand === undefined || !this.#isFree(hand)) continue;
      const open = hand.take(this.#ports.process.nowMs());
      if (open === undefined) continue;
      const size = hand.indexesOf(open).length;
      served.serve(dispatchId, size);
      return { hand, open, size };
    }
    return undefined;
  }

  #take(entry: BacklogEntry | undefined): void {
    if (entry === undefined || this.#errands.running >= mostTaking || this.#errands.isOn(entry.dispatchId)) return;
    const { dispatchId, newsMs: seenNewsMs } = entry;
    if (this.#hands.size >= mostInHand) this.#makeRoomFor(entry);
    else this.#errands.do({ dispatchId, seenNewsMs }, () => this.#taken(entry));
  }

  async #taken(entry: BacklogEntry): Promise<void> {
    const { dispatchId } = entry;
    // If the process dies of it, its entry says so already.
    if (this.entries.isAlone) await this.#errands.blame(entry, entry.newsMs);
    const taken = await takeDispatch(entry, this.#part, this.#ports);
    if (taken === 'over') return await this.entries.remove(entry);
    if (taken === 'undecided') return this.#errands.wait(dispatchId, askedAgainMs(entry, this.#ports.process.nowMs()));
    const { wabaId, limitPerSecond } = taken.facts;
    this.#number.limitPerSecond = limitPerSecond;
    this.#number.saw(wabaId, (await this.#ports.dispatches.look({ wabaId, dispatchIds: [] })).holds);
    this.#hands.set(dispatchId, taken);
    if (taken.isOver) await this.#end(taken);
  }

  #makeRoomFor(entry: BacklogEntry): void {
    const nowMs = this.#ports.process.nowMs();
    const idle = [...this.#hands.values()].filter((hand) => !hand.isBusy && !this.#errands.isOn(hand.dispatchId));
    const hand = givenUpFor(entry, { all: [...this.#hands.values()], idle }, (one) => this.#dueMs(one.entry) > nowMs);
    if (hand === undefined) return;
    this.#errands.do(hand, async () => {
      await this.#move(hand);
      this.#hands.delete(hand.dispatchId);
    });
  }

  /** Returns whether slices of the dispatch may be claimed; sees to what it needs before (D46, D53). */
  #isFree(hand: DispatchInHand): boolean {
    const { dispatchId, facts } = hand;
    if (this.#errands.isOn(dispatchId)) return false;
    const standing = standingOf(hand, this.#number.holdsOf(facts.wabaId), this.#ports.process.nowMs());
    if (standing.kind === 'stopped') this.#endRest(hand);
    if (standing.kind === 'outdated') this.#errands.do(hand, () => judge(hand, this.#ports));
    if (standing.kind === 'over') {
      this.#errands.do(hand, () => stopInHand(hand, standing.settlement, this.#ports));
    }
    if (standing.kind === 'held' && standing.read !== undefined) this.#held.ask(hand, standing.read);
    return standing.kind === 'free';
  }

  tellPauses(): void {
    this.#held.tellPauses(this.#hands.values());
  }

  #endRest(hand: DispatchInHand): void {
    hand.rest = 'ending';
    this.#errands.do(hand, async () => {
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
  afterSlice({ hand, open }: Pick<NextSlice, 'hand' | 'open'>, outcome: SliceOutcome): void {
    const nowMs = this.#ports.process.nowMs();
    const { dispatchId } = hand;
    if (outcome.kind === 'run') {
      hand.ended(open, outcome.end, { ...outcome, nowMs });
      this.#errands.succeeded(dispatchId);
      if (hand.isOver) this.#errands.do(hand, () => this.#end(hand));
      else if ((this.#movedMs.get(dispatchId) ?? 0) + floorEveryMs <= nowMs) {
        this.#errands.do(hand, () => this.#move(hand));
      }
      return;
    }
    if (outcome.kind === 'failed' && letWait(hand, open, outcome.error, this.#ports.process)) return;
    hand.giveBack(open);
    if (outcome.kind === 'failed') this.#errands.unreached(dispatchId, outcome.error);
    if (outcome.kind === 'outage') this.#held.waitForPlatform(dispatchId);
  }

  async #move(hand: DispatchInHand): Promise<void> {
    const nowMs = this.#ports.process.nowMs();
    this.#movedMs.set(hand.dispatchId, nowMs);
    const progress = { ...hand.progress(nowMs), ...this.#errands.poisonOf(hand.dispatchId) };
    const parked = parkedEntryOf(hand.state, hand.facts);
    hand.entry = (await this.entries.move(hand.entry, progress, { seenNewsMs: hand.seenNewsMs, parked })) ?? hand.entry;
  }

  /** Tells the end of a dispatch whose slices have all ended and are told, then removes its entry. */
  async #end(hand: DispatchInHand): Promise<void> {
    const { dispatch, dispatchId } = hand;
    if (this.#part.of > 1) {
      const own = { floor: slicesIn(dispatch.head), dueMs: doneMs };
      hand.entry = (await this.entries.move(hand.entry, own, hand)) ?? hand.entry;
      const isLast = hand.entry.parts?.every(({ floor }) => floor >= slicesIn(dispatch.head)) === true;
      if (!isLast) {
        this.#hands.delete(dispatchId);
        return this.entries.forget(hand.entry);
      }
    }
    // Another part may have found it held.
    if (this.#part.of > 1 || hand.state.parked !== undefined) await endPause(hand, this.#number, this.#ports);
    if (!(await this.#ports.tellEnd(dispatch))) throw new Error('a dispatch is over whose report has pending messages');
    await this.entries.remove(hand.entry);
    this.#hands.delete(dispatchId);
  }

  /** Returns when something is due next, whatever it is. */
  nextDueMs(): number {
    if (this.#errands.running > 0) return this.#ports.process.nowMs();
    return Math.min(Number.POSITIVE_INFINITY, ...this.entries.all.map((entry) => this.#dueMs(entry)));
  }

  #dueMs(entry: BacklogEntry): number {
    const { dispatchId } = entry;
    const waitsMs = this.#errands.waitsUntilMs(dispatchId);
    const nowMs = this.#ports.process.nowMs();
    const hand = this.#hands.get(dispatchId);
    if (hand?.isOver || (hand?.state.stop !== undefined && hand.rest === 'open')) return Math.max(waitsMs, nowMs);
    const { breaker } = this.#number;
    if (hand === undefined) {
      const holding = { holds: this.#number.holdsOf(entry.parked?.wabaId ?? ''), breaker };
      return Math.max(waitsMs, dueMsOfPart(entry, this.#part), heldUntilOfEntry(entry, holding, nowMs));
    }
    const { facts, state } = hand;
    const holding = { holds: this.#number.holdsOf(facts.wabaId), breaker };
    const dueMs = Math.max(hand.nextDueMs(nowMs), heldUntilMs(state, holding, facts, nowMs));
    // The stop that was announced is looked for, by this run and not by ever new ones.
    const isAnnounced = entry.newsMs !== hand.seenNewsMs;
    return Math.max(waitsMs, isAnnounced ? Math.min(dueMs, nowMs + announcedAgainMs) : dueMs);
  }

  /** The answers to questions of this run are there, or come too late. Never rejects. */
  async answered(): Promise<void> {
    await this.#held.answered();
  }

  /** Writes what the next sender must know of each dispatch in hand. Never throws: it would find out by itself. */
  async leave(): Promise<void> {
    await this.#errands.allEnded();
    await Promise.all(
      [...this.#hands.values()].map(async (hand) => {
        try {
          await (hand.isOver ? this.#end(hand) : this.#move(hand));
        } catch (error) {
          this.#ports.process.log('send.error', { dispatchId: hand.dispatchId, error: errorName(error) });
        }
      }),
    );
  }
}

import { leasedRun, type Turn } from '../../aws/leased-run.ts';
import { errorName } from '../../observe/error-name.ts';
import type { BacklogEntry } from '../dispatch/backlog.ts';
import { sendBudgetMs } from '../send/deadlines.ts';
import { DispatchesInHand } from './dispatches-in-hand.ts';
import { countingLost } from './lost-leases.ts';
import { NumberView } from './number-view.ts';
import type { SenderKey, SenderPorts, SenderState } from './sender-ports.ts';
import { ServedLeast } from './served-least.ts';
import { type NextSlice, SliceStarter } from './slice-starter.ts';
import { Turns } from './turns.ts';

const leasing = { leaseMs: 25_000, renewMs: 10_000 };
/** A run begins nothing new after this time, so that its successor has a whole time-out. */
const runMs = 100_000;
/** Workers are scarce where a wake waited for one this long: others have their turn sooner. */
const scarceAfterMs = 5_000;
const scarceRunMs = 20_000;
/** What is due sooner is waited for. */
const idleMs = 20_000;
const lookEveryMs = 500;
/** The platform may take all of its time after the last call, and the outcome is written. */
const lastCallBeforeEndMs = sendBudgetMs + 2_000;
/** What is due later has a wake of the sweeper. */
const longestWakeMs = 900_000;

export interface SenderWake extends SenderKey {
  /** The wake waited so long for a worker. */
  readonly waitedMs: number;
}

/**
 * Sends from a number, or a part of it, as the holder of its lease. What is claimed at its end is called and recorded
 * beside the successor. Rejects when store or queue cannot be reached.
 */
export async function runSender(wake: SenderWake, ports: SenderPorts): Promise<void> {
  const { nowMs, invocation } = ports.process;
  const sender = new Sender(wake, ports);
  let leases = 0;
  try {
    await leasedRun({
      leasing,
      states: countingLost(ports.statesOf(wake)),
      messages: [],
      firstDueMs: () => sender.firstDueMs(),
      work: (turn) => sender.work(turn),
      wake: (delaySeconds) => ports.wake([wake.part], delaySeconds),
      mayGoOn: () => sender.mayGoOn(),
      newOwner: () => {
        leases += 1;
        return `${invocation}/lease-${leases}`;
      },
      nowMs,
    });
  } finally {
    await sender.end();
  }
}

class Sender {
  readonly #wake: SenderWake;
  readonly #ports: SenderPorts;
  readonly #number: NumberView;
  readonly #turns: Turns;
  readonly #hands: DispatchesInHand;
  readonly #slices: SliceStarter;
  readonly #beganMs: number;
  /** By dispatch, the news that the other parts were woken for. */
  readonly #known = new Map<string, number>();
  #clients = new ServedLeast();
  #changed = Promise.withResolvers<void>();
  /** The lease is this run's by its own clock. */
  #mayClaim: () => boolean = () => false;

  constructor(wake: SenderWake, ports: SenderPorts) {
    const { nowMs, pause, remainingMs, invocation } = ports.process;
    this.#wake = wake;
    this.#ports = ports;
    this.#beganMs = nowMs();
    this.#number = new NumberView(ports.paces);
    const everyMs = () => this.#number.everyMs(nowMs(), wake.of);
    const changed = () => this.#signal();
    const lastCallMs = this.#beganMs + remainingMs() - lastCallBeforeEndMs;
    this.#turns = new Turns({ nowMs, pause, everyMs, lastMs: lastCallMs });
    const mayClaim = () => this.#mayClaim();
    this.#slices = new SliceStarter(
      { invocation, turns: this.#turns, number: this.#number, lastCallMs, mayClaim, ports },
      everyMs,
      changed,
    );
    this.#hands = new DispatchesInHand(wake, this.#number, changed, ports);
  }

  mayGoOn(): boolean {
    const isShort = this.#wake.waitedMs > scarceAfterMs || this.#hands.entries.isAlone;
    const longestMs = isShort ? scarceRunMs : runMs;
    return this.#ports.process.nowMs() - this.#beganMs < longestMs;
  }

  /** Returns when something of the backlog is due, as far as the queue's delays reach; the sweeper sees the rest. */
  async firstDueMs(): Promise<number | undefined> {
    const entries = await this.#ports.backlog.of(this.#wake.phoneNumberId);
    await this.#readHolds(this.#unread(entries));
    this.#hands.saw(entries);
    // What is not claimed yet is given back.
    const dueMs = this.#slices.isBeginning ? this.#ports.process.nowMs() : this.#hands.nextDueMs();
    // Where this part has nothing to do, its wake was for another one.
    if (dueMs > this.#ports.process.nowMs()) await this.#wakeOthers(entries);
    return dueMs - this.#ports.process.nowMs() > longestWakeMs ? undefined : dueMs;
  }

  /** Claims slices while it may and something is due. Returns what the next run must know. */
  async work({ state, mayClaim, keep }: Turn<SenderState>): Promise<(state: SenderState) => SenderState> {
    this.#turns.notBefore(state.turnsUntilMs ?? 0);
    this.#turns.notBefore(await this.#ports.places.close(this.#wake.phoneNumberId, this.#ports.process.nowMs()));
    this.#clients = new ServedLeast(state.service);
    this.#hands.entries.takeTurn(state, this.#ports.process.nowMs());
    this.#mayClaim = mayClaim;
    const over = new AbortController();
    // A slow look must not delay the lease.
    void this.#repeat(keep, over.signal);
    await this.#tryTo(() => this.#look());
    void this.#repeat(() => this.#look(), over.signal);
    while (mayClaim() && this.#isDue()) {
      if (!this.#startNext()) await this.#changed.promise;
    }
    over.abort();
    await this.#hands.leave();
    const { service } = this.#clients;
    const { endMs: turnsUntilMs } = this.#turns;
    const { lost, turnOf } = this.#hands.entries.endTurn(this.#ports.process.nowMs());
    return (before) => ({ ...before, service, turnsUntilMs, lost, turnOf });
  }

  /** What is claimed is called and recorded. Never throws. */
  async end(): Promise<void> {
    await Promise.all([this.#slices.allEnded(), this.#hands.answered()]);
    await this.#hands.leave();
  }

  #signal(): void {
    this.#changed.resolve();
    this.#changed = Promise.withResolvers();
  }

  #isDue(): boolean {
    return this.#slices.isBusy || this.#hands.nextDueMs() <= this.#ports.process.nowMs() + idleMs;
  }

  /**
   * Starts the next slice: of the client that was served least, in it of the dispatch that was served least. In front are
   * small requests without a place, and the first slice of a newcomer.
   */
  #startNext(): boolean {
    const byClient = Map.groupBy(this.#hands.ready(), ({ clientId }) => String(clientId));
    const clients = this.#clients.ordered([...byClient.keys()]);
    return [true, false].some((isFront) => {
      if (!this.#slices.mayStart(isFront)) return false;
      for (const client of clients) {
        const isNewcomer = this.#clients.isNewcomer(client);
        const entries = (byClient.get(client) ?? []).filter(({ front }) => (front ?? isNewcomer) === isFront);
        const next = this.#hands.nextOf(entries);
        if (next === undefined) continue;
        this.#start({ ...next, isFront }, client);
        return true;
      }
      return false;
    });
  }

  #start(next: NextSlice, client: string): void {
    this.#clients.serve(client, next.size);
    this.#slices.start(next, (outcome) => {
      this.#hands.afterSlice(next, outcome);
      this.#signal();
    });
  }

  async #look(): Promise<void> {
    const { paces, holds, backlog } = this.#ports;
    const { phoneNumberId } = this.#wake;
    const [entries, pace, breaker] = await Promise.all([
      backlog.of(phoneNumberId),
      paces.find(phoneNumberId),
      holds.breakers.find(),
      this.#readHolds(this.#number.wabaIds),
    ]);
    await this.#readHolds(this.#unread(entries));
    this.#number.pace = pace;
    this.#number.breaker = breaker;
    this.#hands.saw(entries);
    this.#hands.takeDue();
    this.#hands.tellPauses();
    await this.#wakeOthers(entries);
    const { any } = this.#hands;
    if (any !== undefined && breaker.open !== undefined && breaker.open.probeAtMs <= this.#ports.process.nowMs()) {
      await this.#slices.guardOf(any);
      this.#number.breaker = await holds.breakers.find();
    }
  }

  /** Returns the WABAs of parked dispatches whose holds this run has not read. */
  #unread(entries: readonly BacklogEntry[]): readonly string[] {
    const parked = entries.flatMap((entry) => (entry.parked === undefined ? [] : [entry.parked.wabaId]));
    const known = new Set(this.#number.wabaIds);
    return [...new Set(parked)].filter((wabaId) => !known.has(wabaId));
  }

  async #readHolds(wabaIds: readonly string[]): Promise<void> {
    const { look } = this.#ports.dispatches;
    await Promise.all(
      wabaIds.map(async (wabaId) => this.#number.saw(wabaId, (await look({ wabaId, dispatchIds: [] })).holds)),
    );
  }

  /** The first part wakes the others for each dispatch that is new to it, or has news: all other wakes are its own. */
  async #wakeOthers(entries: readonly BacklogEntry[]): Promise<void> {
    const { part, of } = this.#wake;
    if (part !== 0 || of === 1) return;
    const news = entries.filter(({ dispatchId, newsMs = 0 }) => this.#known.get(dispatchId) !== newsMs);
    if (news.length === 0) return;
    await this.#ports.wake(
      Array.from({ length: of - 1 }, (_, at) => at + 1),
      0,
    );
    for (const { dispatchId, newsMs = 0 } of news) this.#known.set(dispatchId, newsMs);
  }

  async #repeat(act: () => Promise<void>, over: AbortSignal): Promise<void> {
    for (;;) {
      await this.#ports.process.pause(lookEveryMs);
      if (over.aborted) return;
      await this.#tryTo(act);
      this.#signal();
    }
  }

  /** What was seen before counts while the store cannot be reached: claims fail then, too. */
  async #tryTo(act: () => Promise<void>): Promise<void> {
    try {
      await act();
    } catch (error) {
      this.#ports.process.log('send.dispatch_not_read', { error: errorName(error) });
    }
  }
}

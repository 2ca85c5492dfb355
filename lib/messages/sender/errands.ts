import { isOutOfReach } from '../../aws/out-of-reach.ts';
import { correlated } from '../../observe/correlation.ts';
import { errorName } from '../../observe/error-name.ts';
import { count } from '../../observe/metrics.ts';
import type { BacklogEntry, PartProgress } from '../dispatch/backlog.ts';
import { poisonedUntilMs, progressOf, type SenderPart } from './entry-progress.ts';
import type { SeenEntries } from './seen-entries.ts';
import type { SenderPorts } from './sender-ports.ts';
import { Troubles } from './troubles.ts';

type Poison = Required<Pick<PartProgress, 'dueMs' | 'failures'>>;

/** What is done concerns the dispatch as it was read after these news. */
export interface Concerned {
  readonly dispatchId: string;
  readonly seenNewsMs: number | undefined;
}

/** The clients of store and queue have repeated for seconds already. */
const outOfReachMs = 2_000;

function poisonOf({ failures = 0 }: PartProgress, nowMs: number): Poison {
  return { dueMs: poisonedUntilMs(failures + 1, nowMs), failures: failures + 1 };
}

/**
 * What is done with dispatches beside their slices, one thing at a time for each. A dispatch with which nothing can be
 * done waits: some seconds, then as its entry says.
 */
export class Errands {
  readonly #part: SenderPart;
  readonly #entries: SeenEntries;
  readonly #changed: () => void;
  readonly #process: SenderPorts['process'];
  readonly #running = new Map<string, Promise<void>>();
  readonly #troubles = new Troubles();
  /** A run could do nothing with these, and their entries say how often that was so. */
  readonly #poisoned = new Map<string, Poison>();

  constructor(part: SenderPart, entries: SeenEntries, changed: () => void, process: SenderPorts['process']) {
    this.#part = part;
    this.#entries = entries;
    this.#changed = changed;
    this.#process = process;
  }

  get running(): number {
    return this.#running.size;
  }

  isOn(dispatchId: string): boolean {
    return this.#running.has(dispatchId);
  }

  /** What fails is tried again later. */
  do(concerned: Concerned, what: () => Promise<void>): void {
    const { dispatchId } = concerned;
    if (this.#running.has(dispatchId)) return;
    const doing = correlated(this.#entries.get(dispatchId)?.correlationId, what)
      .catch((error: unknown) => this.failed(concerned, error))
      .finally(() => {
        this.#running.delete(dispatchId);
        this.#changed();
      });
    this.#running.set(dispatchId, doing);
  }

  /** Nothing is done with the dispatch before. */
  wait(dispatchId: string, untilMs: number): void {
    this.#troubles.wait(dispatchId, untilMs);
  }

  waitsUntilMs(dispatchId: string): number {
    return this.#troubles.untilMs(dispatchId);
  }

  /** Returns what the entry of a poisoned dispatch must keep. */
  poisonOf(dispatchId: string): Poison | undefined {
    return this.#poisoned.get(dispatchId);
  }

  /** Something could be done with the dispatch. */
  succeeded(dispatchId: string): void {
    this.#troubles.over(dispatchId);
    this.#poisoned.delete(dispatchId);
  }

  /** Store or queue is out of reach: the dispatch waits for some seconds, and is not blamed. */
  unreached(dispatchId: string, error: unknown): void {
    const { log, nowMs } = this.#process;
    log('send.dispatch_not_read', { error: errorName(error) });
    this.#troubles.wait(dispatchId, nowMs() + outOfReachMs);
  }

  async failed({ dispatchId, seenNewsMs }: Concerned, error: unknown): Promise<void> {
    if (isOutOfReach(error)) return this.unreached(dispatchId, error);
    const { log, nowMs } = this.#process;
    log('dispatch.unreadable', { dispatchId, error: errorName(error) });
    const entry = this.#entries.get(dispatchId);
    if (!this.#troubles.again(dispatchId, nowMs()) || entry === undefined) return;
    const poison = poisonOf(progressOf(entry, this.#part), nowMs());
    this.#troubles.wait(dispatchId, poison.dueMs);
    this.#poisoned.set(dispatchId, poison);
    count('SenderFailures');
    await this.blame(entry, seenNewsMs).catch(() => undefined);
  }

  /**
   * Lets a dispatch wait for longer each time, unless a later write says that something was done with it. News that were
   * not read with it stay news.
   */
  async blame(entry: BacklogEntry, seenNewsMs: number | undefined): Promise<void> {
    const known = progressOf(entry, this.#part);
    const blamed = { ...known, ...poisonOf(known, this.#process.nowMs()) };
    await this.#entries.move(entry, blamed, { seenNewsMs, parked: entry.parked });
  }

  /** Never rejects. */
  async allEnded(): Promise<void> {
    await Promise.all(this.#running.values());
  }
}

import type { BacklogEntry, PartProgress } from '../dispatch/backlog.ts';
import { dueMsOfPart, isPartDone, type PartMoved, partMoved, progressOf, type SenderPart } from './entry-progress.ts';
import { type LostLeases, lostTogether } from './lost-leases.ts';
import type { SenderPorts } from './sender-ports.ts';

/** The entries of a number's backlog that concern one sender, as it last saw or changed them. */
export class SeenEntries {
  readonly #part: SenderPart;
  readonly #backlog: SenderPorts['backlog'];
  readonly #entries = new Map<string, BacklogEntry>();
  /** This run has removed their entries. */
  readonly #over = new Set<string>();
  #alone: string | undefined;

  constructor(part: SenderPart, backlog: SenderPorts['backlog']) {
    this.#part = part;
    this.#backlog = backlog;
  }

  /** Notes what the backlog has now. A look may have begun before this run removed an entry. */
  saw(entries: readonly BacklogEntry[]): void {
    this.#entries.clear();
    for (const entry of entries) {
      if (this.#over.has(entry.dispatchId) || isPartDone(entry, this.#part)) continue;
      this.#entries.set(entry.dispatchId, entry);
    }
  }

  /**
   * After lost leases the lease has one dispatch, by turn, of those that are due: one that kills processes hurts itself
   * alone. Once each has had its turn, all are taken together.
   */
  takeTurn({ lost = 0, turnOf = '' }: LostLeases, nowMs: number): void {
    const [first, next] = lost < lostTogether ? [] : this.#turnsAfter(turnOf, nowMs);
    this.#alone = next ?? first;
  }

  /** The lease is given back: the next one has all of them. Returns what it must know of the turns. */
  endTurn(nowMs: number): LostLeases {
    const turnOf = this.#alone;
    this.#alone = undefined;
    if (turnOf === undefined || this.#turnsAfter(turnOf, nowMs)[1] === undefined) return {};
    return { lost: lostTogether, turnOf };
  }

  /** Returns the first of all that are due, and the first after this one, in the order of their ids. */
  #turnsAfter(dispatchId: string, nowMs: number): readonly (string | undefined)[] {
    const due = [...this.#entries.values()].filter((entry) => dueMsOfPart(entry, this.#part) <= nowMs);
    const ids = due.map((entry) => entry.dispatchId).toSorted();
    return [ids[0], ids.find((id) => id > dispatchId)];
  }

  get isAlone(): boolean {
    return this.#alone !== undefined;
  }

  get(dispatchId: string): BacklogEntry | undefined {
    return this.#alone === undefined || this.#alone === dispatchId ? this.#entries.get(dispatchId) : undefined;
  }

  get all(): readonly BacklogEntry[] {
    return [...this.#entries.values()].filter(({ dispatchId }) => this.get(dispatchId) !== undefined);
  }

  /** Writes where this part stands. Returns undefined once the entry is gone. Rejects when the store fails. */
  async move(
    entry: BacklogEntry,
    progress: PartProgress,
    { seenNewsMs, parked }: Pick<PartMoved, 'seenNewsMs' | 'parked'> = {
      seenNewsMs: entry.newsMs,
      parked: entry.parked,
    },
  ): Promise<BacklogEntry | undefined> {
    const known = progressOf(entry, this.#part);
    const isSame = known.floor === progress.floor && known.dueMs === progress.dueMs;
    const isTold = JSON.stringify(known.told) === JSON.stringify(progress.told);
    if (entry.parts !== undefined && isSame && isTold && entry.parked?.untilMs === parked?.untilMs) return entry;
    const moved = await this.#backlog.change(entry, partMoved({ part: this.#part, progress, seenNewsMs, parked }));
    if (moved !== undefined && this.#entries.has(entry.dispatchId)) this.#entries.set(entry.dispatchId, moved);
    return moved;
  }

  /** Removes an entry for good. Rejects when the store cannot be reached. */
  async remove(entry: BacklogEntry): Promise<void> {
    await this.#backlog.remove(entry);
    this.#over.add(entry.dispatchId);
    this.forget(entry);
  }

  /** This part has nothing left to do, until the next look says otherwise. */
  forget({ dispatchId }: Pick<BacklogEntry, 'dispatchId'>): void {
    this.#entries.delete(dispatchId);
  }
}

import type { Budgets, Reservation, Reserved } from '../../lib/messages/budget/budgets.ts';
import { monthOf } from '../../lib/messages/budget/reached.ts';
import type { ToldPercents } from '../../lib/messages/budget/tell-reached.ts';
import { type Caller, nothingFails } from './messages-table/memory-table.ts';

/** The money of clients and months in memory: what the port promises, each call at one moment. */
export class MemoryBudgets implements Budgets, ToldPercents {
  readonly reservations = new Map<string, Reservation & { readonly state: 'open' | 'released' }>();
  readonly told = new Map<string, Set<number>>();
  readonly #run: Caller;

  constructor(run: Caller = nothingFails) {
    this.#run = run;
  }

  /** What is reserved of a client's month. */
  committed(clientId: number, atMs: number): number {
    const ofMonth = [...this.reservations.values()].filter(
      (each) => each.clientId === clientId && monthOf(each.atMs) === monthOf(atMs) && each.state === 'open',
    );
    return ofMonth.reduce((sum, { units }) => sum + units, 0);
  }

  reserve(reservation: Reservation): Promise<Reserved> {
    return this.#run.call('reserveBudget', () => {
      const { clientId, atMs, jobId, units, limitUnits } = reservation;
      const committedUnits = this.committed(clientId, atMs);
      const known = this.reservations.get(jobId);
      if (known !== undefined) return { kind: 'reserved', beforeUnits: committedUnits, afterUnits: committedUnits };
      if (limitUnits !== undefined && committedUnits + units > limitUnits) return { kind: 'over', committedUnits };
      this.reservations.set(jobId, { ...reservation, state: 'open' });
      return { kind: 'reserved', beforeUnits: committedUnits, afterUnits: committedUnits + units };
    });
  }

  release({ jobId, clientId, atMs }: Pick<Reservation, 'clientId' | 'jobId' | 'atMs'>): Promise<void> {
    return this.#run.call('releaseBudget', () => {
      const known = this.reservations.get(jobId);
      if (known?.clientId !== clientId || monthOf(known.atMs) !== monthOf(atMs)) return;
      this.reservations.set(jobId, { ...known, state: 'released' });
    });
  }

  committedUnits(clientId: number, atMs: number): Promise<number> {
    return this.#run.call('readBudget', () => this.committed(clientId, atMs));
  }

  of(clientId: number, atMs: number): Promise<ReadonlySet<number>> {
    return this.#run.call('readTold', () => new Set(this.told.get(`${clientId} ${monthOf(atMs)}`)));
  }

  note(clientId: number, atMs: number, percents: readonly number[]): Promise<void> {
    return this.#run.call('noteTold', () => {
      const key = `${clientId} ${monthOf(atMs)}`;
      this.told.set(key, new Set([...(this.told.get(key) ?? []), ...percents]));
    });
  }
}

import {
  changeableFromMs,
  emptySchedule,
  reserved,
  type Schedule,
  slotMsOf,
  type Turn,
} from '../../../../lib/messages/pace/schedule.ts';
import type { LaneName } from '../../../../lib/messages/pace/segments.ts';
import { everyMs, turn } from './a-number.ts';

export const a: LaneName = { clientId: 1, lane: 'A' };

export const b: LaneName = { clientId: 2, lane: 'B' };

export interface Asked extends LaneName {
  readonly count: number;
  readonly inFront?: true;
  readonly late?: true;
}

/** Remembers every slot that its schedule gave out, including those that the schedule has forgotten. */
export class BlockNumber {
  schedule: Schedule = emptySchedule;
  readonly #known = new Map<Turn, number>();
  readonly #open = new Map<string, Turn[]>();

  reserve(asked: Asked, nowMs: number): Turn[] {
    this.#note(changeableFromMs(nowMs));
    const change = reserved(this.schedule, { ...asked, everyMs, nowMs });
    this.schedule = change.schedule;
    const { clientId, lane, count } = asked;
    const turns = Array.from({ length: count }, (_, at) => ({ clientId, lane, position: change.firstPosition + at }));
    const name = `${clientId}#${lane}`;
    this.#open.set(name, [...(this.#open.get(name) ?? []), ...turns]);
    return turns;
  }

  /** The slots of a lane ascend. */
  #note(beforeMs: number): void {
    for (const [name, turns] of this.#open) {
      const noted = turns.findIndex((turn) => {
        const slotMs = slotMsOf(this.schedule, turn) ?? Number.NaN;
        if (slotMs < beforeMs) this.#known.set(turn, slotMs);
        return !(slotMs < beforeMs);
      });
      this.#open.set(name, noted < 0 ? [] : turns.slice(noted));
    }
  }

  slots(turns: readonly Turn[]): number[] {
    return turns.map((turn) => slotMsOf(this.schedule, turn) ?? Number.NaN);
  }

  /** Returns all given turns, in the order of their slots. */
  row(): (Turn & { readonly slotMs: number })[] {
    this.#note(Number.POSITIVE_INFINITY);
    return [...this.#known]
      .map(([turn, slotMs]) => ({ ...turn, slotMs }))
      .toSorted((one, other) => one.slotMs - other.slotMs);
  }
}

/** Counts the whole blocks that were given out, and those of them that have gaps. */
export function blocksIn(number: BlockNumber): { readonly whole: number; readonly broken: number } {
  const places = number.row().map(({ clientId, lane, position }, place) => ({
    block: `${clientId}#${lane}#${Math.floor(position / turn)}`,
    place,
  }));
  const whole = [...Map.groupBy(places, ({ block }) => block).values()].filter(({ length }) => length === turn);
  const broken = whole.filter((own) => (own.at(-1)?.place ?? 0) - (own[0]?.place ?? 0) !== turn - 1);
  return { whole: whole.length, broken: broken.length };
}

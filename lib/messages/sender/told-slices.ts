import type { PartProgress } from '../dispatch/backlog.ts';

// One slice that waits, as for its opening (D56), keeps the floor below all others. So a part's progress also names what
// is told above: without it each run would tell those endings once more.

/** An entry stays small: of more stretches the highest are told again, under the same ids (D34). */
const mostStretches = 50;

/** Returns stretches from a slice to another, both told, of the part's slices in ascending order. */
export function toldAbove(own: readonly number[], isTold: (slice: number) => boolean): PartProgress['told'] {
  const stretches: [number, number][] = [];
  let last: [number, number] | undefined;
  for (const slice of own) {
    if (!isTold(slice)) last = undefined;
    else if (last !== undefined) last[1] = slice;
    else {
      if (stretches.length === mostStretches) break;
      last = [slice, slice];
      stretches.push(last);
    }
  }
  return stretches.length === 0 ? undefined : stretches;
}

export function isToldIn(told: PartProgress['told'], slice: number): boolean {
  return told?.some(([from, to]) => from <= slice && slice <= to) === true;
}

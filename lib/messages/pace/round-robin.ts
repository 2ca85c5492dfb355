/*
 * Members take turns in order, up to `turn` messages each. A place counts in the common sequence, a position among the
 * member's own messages, both from 0. `counts` has the messages per member.
 */

/** A turn has `turn` messages. `heads` has the first turn of each member (1 to `turn`), if different. */
export interface TurnLengths {
  readonly turn: number;
  readonly heads?: readonly number[];
}

/** Returns the place of a member's message at `position`: after its own earlier ones, and those of the others. */
export function placeInTurns(position: number, index: number, counts: readonly number[], blocks: TurnLengths): number {
  const head = headOf(index, blocks);
  const rounds = position < head ? 0 : 1 + Math.floor((position - head) / blocks.turn);
  let place = position;
  for (const [other, count] of counts.entries()) {
    if (other !== index) place += Math.min(count, givenIn(other < index ? rounds + 1 : rounds, other, blocks));
  }
  return place;
}

/** Inverts `placeInTurns`: returns the messages of each member within the first `places`. */
export function countsWithin(places: number, counts: readonly number[], blocks: TurnLengths): number[] {
  const takenAfter = (rounds: number) => counts.map((count, index) => Math.min(count, givenIn(rounds, index, blocks)));
  const rounds = fullRounds(places, counts, takenAfter);
  const taken = takenAfter(rounds);
  const next = takenAfter(rounds + 1);
  let left = places - sumOf(taken);
  return taken.map((before, index) => {
    const more = Math.min(left, (next[index] ?? 0) - before);
    left -= more;
    return before + more;
  });
}

function headOf(index: number, { turn, heads }: TurnLengths): number {
  return heads?.[index] ?? turn;
}

/** Returns messages of an endless member after this many rounds. */
function givenIn(rounds: number, index: number, blocks: TurnLengths): number {
  return rounds === 0 ? 0 : headOf(index, blocks) + (rounds - 1) * blocks.turn;
}

function fullRounds(
  places: number,
  counts: readonly number[],
  takenAfter: (rounds: number) => readonly number[],
): number {
  let fits = 0;
  let tooMany = Math.max(0, ...counts) + 1;
  while (tooMany - fits > 1) {
    const rounds = Math.floor((fits + tooMany) / 2);
    if (sumOf(takenAfter(rounds)) <= places) fits = rounds;
    else tooMany = rounds;
  }
  return fits;
}

export function sumOf(counts: readonly number[]): number {
  return counts.reduce((sum, count) => sum + count, 0);
}

/*
 * Members take turns in their order, up to `turn` consecutive messages each; who has no more is passed over. A place is
 * one of the common row, counted from 0; a position is one among the member's own messages. `counts` says how many each has.
 */

/** How long turns are: `turn` messages, the first one of a member its `heads` (1 to `turn`; without them, as all others). */
export interface Blocks {
  readonly turn: number;
  readonly heads?: readonly number[];
}

/** At which place the message at `position` of member `index` comes: those of its own before it, and those of the others. */
export function turnOf(position: number, index: number, counts: readonly number[], blocks: Blocks): number {
  const head = headOf(index, blocks);
  const rounds = position < head ? 0 : 1 + Math.floor((position - head) / blocks.turn);
  let place = position;
  for (const [other, count] of counts.entries()) {
    if (other !== index) place += Math.min(count, givenIn(other < index ? rounds + 1 : rounds, other, blocks));
  }
  return place;
}

/** How many messages of each member come in the first `places`: the inverse of `turnOf`, for all members at once. */
export function takenIn(places: number, counts: readonly number[], blocks: Blocks): number[] {
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

function headOf(index: number, { turn, heads }: Blocks): number {
  return heads?.[index] ?? turn;
}

/** What a member that never ends has had after so many rounds. */
function givenIn(rounds: number, index: number, blocks: Blocks): number {
  return rounds === 0 ? 0 : headOf(index, blocks) + (rounds - 1) * blocks.turn;
}

/** The most rounds that fit into so many places, at most as many as the longest member has messages. */
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

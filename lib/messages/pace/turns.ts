/*
 * Members take turns, one message each, in their order; who has no more is passed over. A turn is a place in the common
 * row, counted from 0; a position is a place among the member's own messages. `counts` says how many each has.
 */

/** In which turn the message at `position` of member `index` comes: those of its own before it, and those of the others. */
export function turnOf(position: number, index: number, counts: readonly number[]): number {
  let turn = position;
  for (const [other, count] of counts.entries()) {
    if (other !== index) turn += Math.min(count, other < index ? position + 1 : position);
  }
  return turn;
}

/** How many messages of each member come in the first `turns` turns: the inverse of `turnOf`, for all members at once. */
export function takenIn(turns: number, counts: readonly number[]): number[] {
  const rounds = fullRounds(turns, counts);
  let left = turns - sumOf(counts.map((count) => Math.min(count, rounds)));
  return counts.map((count) => {
    if (count <= rounds || left <= 0) return Math.min(count, rounds);
    left -= 1;
    return rounds + 1;
  });
}

/** The most rounds that fit into so many turns, at most as many as the longest member has. */
function fullRounds(turns: number, counts: readonly number[]): number {
  let fits = 0;
  let tooMany = Math.max(0, ...counts) + 1;
  while (tooMany - fits > 1) {
    const rounds = Math.floor((fits + tooMany) / 2);
    if (sumOf(counts.map((count) => Math.min(count, rounds))) <= turns) fits = rounds;
    else tooMany = rounds;
  }
  return fits;
}

export function sumOf(counts: readonly number[]): number {
  return counts.reduce((sum, count) => sum + count, 0);
}

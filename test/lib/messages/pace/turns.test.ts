import { expect, test } from 'vitest';
import { takenIn, turnOf } from '../../../../lib/messages/pace/turns.ts';

/** The same by playing it: round after round, everybody who has one more. */
function played(counts: readonly number[]): { readonly member: number; readonly position: number }[] {
  const turns: { member: number; position: number }[] = [];
  for (let round = 0; round < Math.max(0, ...counts); round += 1) {
    for (const [member, count] of counts.entries()) {
      if (round < count) turns.push({ member, position: round });
    }
  }
  return turns;
}

/** Every list of at most `members` counts from 0 to `most`. */
function* allCounts(members: number, most: number): Generator<number[]> {
  yield [];
  if (members === 0) return;
  for (const rest of allCounts(members - 1, most)) {
    for (let count = 0; count <= most; count += 1) yield [count, ...rest];
  }
}

test('the closed form is the game: every turn has one message, every message one turn', () => {
  for (const counts of allCounts(5, 3)) {
    const turns = played(counts).map(({ member, position }) => turnOf(position, member, counts));
    expect(turns).toEqual(turns.map((_, turn) => turn));
  }
});

test('what each has had after so many turns is the game too, also after its end', () => {
  for (const counts of allCounts(4, 3)) {
    const turns = played(counts);
    for (let taken = 0; taken <= turns.length + 1; taken += 1) {
      const had = counts.map((_, member) => turns.slice(0, taken).filter((turn) => turn.member === member).length);
      expect({ counts, taken, had: takenIn(taken, counts) }).toEqual({ counts, taken, had });
    }
  }
});

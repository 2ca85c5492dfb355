import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Blocks, takenIn, turnOf } from '../../../../lib/messages/pace/turns.ts';

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

/** The same with turns of several messages: each takes up to a turn, the first time up to its head. */
function playedInBlocks(counts: readonly number[], { turn, heads }: Blocks): number[] {
  const row: number[] = [];
  const left = [...counts];
  for (let round = 0; left.some((count) => count > 0); round += 1) {
    for (const [member, count] of left.entries()) {
      const taken = Math.min(count, round === 0 ? (heads?.[member] ?? turn) : turn);
      left[member] = count - taken;
      row.push(...Array.from({ length: taken }, () => member));
    }
  }
  return row;
}

const game = fc.integer({ min: 1, max: 8 }).chain((turn) =>
  fc.record({
    turn: fc.constant(turn),
    members: fc.array(fc.record({ count: fc.nat(20), head: fc.integer({ min: 1, max: turn }) }), { maxLength: 6 }),
    withHeads: fc.boolean(),
  }),
);

test('turns of several messages are the game too, both ways, after a first turn that is shorter and after its end', () => {
  fc.assert(
    fc.property(game, ({ turn, members, withHeads }) => {
      const counts = members.map(({ count }) => count);
      const blocks = withHeads ? { turn, heads: members.map(({ head }) => head) } : { turn };
      const row = playedInBlocks(counts, blocks);
      const had = counts.map(() => 0);
      expect(takenIn(0, counts, blocks)).toEqual(had);
      for (const [place, member] of row.entries()) {
        expect(turnOf(had[member] ?? 0, member, counts, blocks)).toBe(place);
        had[member] = (had[member] ?? 0) + 1;
        expect(takenIn(place + 1, counts, blocks)).toEqual(had);
      }
      expect(takenIn(row.length + 1, counts, blocks)).toEqual(counts);
    }),
    { numRuns: 300 },
  );
});

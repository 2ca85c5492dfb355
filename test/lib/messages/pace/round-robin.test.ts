import fc from 'fast-check';
import { expect, test } from 'vitest';
import { countsWithin, placeInTurns, type TurnLengths } from '../../../../lib/messages/pace/round-robin.ts';

/** The reference plays the turns: in each round a lane takes up to a turn, and in its first round up to its head. */
function played(counts: readonly number[], { turn, heads }: TurnLengths): number[] {
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

test('the closed form is the game, both ways, after a first turn that is shorter and after its end', () => {
  fc.assert(
    fc.property(game, ({ turn, members, withHeads }) => {
      const counts = members.map(({ count }) => count);
      const blocks = withHeads ? { turn, heads: members.map(({ head }) => head) } : { turn };
      const row = played(counts, blocks);
      const had = counts.map(() => 0);
      expect(countsWithin(0, counts, blocks)).toEqual(had);
      for (const [place, member] of row.entries()) {
        expect(placeInTurns(had[member] ?? 0, member, counts, blocks)).toBe(place);
        had[member] = (had[member] ?? 0) + 1;
        expect(countsWithin(place + 1, counts, blocks)).toEqual(had);
      }
      expect(countsWithin(row.length + 1, counts, blocks)).toEqual(counts);
    }),
    { numRuns: 300 },
  );
});

import { expect, test } from 'vitest';
import { countCode } from '../../../../lib/messages/sender/code-lateness.ts';
import { countedBy } from '../../../support/counted.ts';

const acceptedAtMs = 1_800_000_000_000;
const code = { urgent: true as const, lots: undefined, acceptedAtMs };
const first = { isSmall: true, isFirst: true };
const lots = [{ until: 1, open: [[acceptedAtMs, acceptedAtMs + 9_000] as const] }];

test.each([
  ['a code within five seconds', code, first, 5_000, [1, undefined]],
  ['a later one', code, first, 5_001, [1, 1]],
  ['no code', { ...code, urgent: undefined }, first, 9_000, undefined],
  ['one of a large dispatch', code, { ...first, isSmall: false }, 9_000, undefined],
  ['a later try', code, { ...first, isFirst: false }, 9_000, undefined],
  ['one with a time of its own', { ...code, lots }, first, 9_000, undefined],
])('of one-time codes is counted: %s (D44)', async (_, of, which, afterMs, counted) => {
  const [line] = await countedBy(async () => countCode(of, which, acceptedAtMs + afterMs));
  expect(line && [line['CodesCalled'], line['CodesLate']]).toEqual(counted);
});

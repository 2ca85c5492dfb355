import { describe, expect, it } from 'vitest';
import { isLate } from '../../../../lib/messages/dispatch/punctuality.ts';

/* The objective of delivery: twice the planned time, a minute at least (infra/operate/README.md). */

const acceptedAtMs = 1_000_000;
const at = (seconds: number) => acceptedAtMs + seconds * 1_000;
const recipient = { index: 0 };

describe('a message is late', () => {
  it.each([
    ['at its plan', 300, 300, false],
    ['within twice its planned time', 300, 600, false],
    ['behind twice its planned time', 300, 601, true],
    ['a minute behind a plan of seconds', 2, 62, false],
    ['more than a minute behind a plan of seconds', 2, 63, true],
  ] as const)('%s: planned after %i s, left after %i s: %s', (_, planned, left, late) => {
    expect(isLate({ acceptedAtMs, plannedMs: at(planned) }, recipient, at(left))).toBe(late);
  });

  it('by its own opening, of a send with a time of its own (D56)', () => {
    const lots = [{ until: 1, open: [[at(10_000), at(20_000)] as const, [at(90_000), at(99_000)] as const] }];
    const planned = { acceptedAtMs, plannedMs: at(10_100), lots };
    expect(isLate(planned, recipient, at(10_200))).toBe(false);
    expect(isLate(planned, recipient, at(10_201))).toBe(true);
    // It has waited for the next opening, as it was asked to.
    expect(isLate(planned, recipient, at(90_001))).toBe(undefined);
  });

  it('never where it has waited for a hold or an outage: no plan is left', () => {
    expect(isLate({ acceptedAtMs, plannedMs: undefined }, recipient, at(86_400))).toBe(undefined);
  });
});

import { describe, expect, it } from 'vitest';
import type { QueuedChunk } from '../../../../lib/messages/dispatch/chunk.ts';
import type { Ended } from '../../../../lib/messages/send/post-message.ts';
import { countPunctuality, isLate, withoutPlan } from '../../../../lib/messages/send/punctuality.ts';
import { countedBy } from '../../../support/counted.ts';

/** The objective of delivery is twice the planned time, and at least a minute (infra/operate/README.md). */

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
    // A wait for the next opening is not late.
    expect(isLate(planned, recipient, at(90_001))).toBe(undefined);
  });

  it('never where it has waited for a hold or an outage: no plan is left', () => {
    expect(isLate({ acceptedAtMs }, recipient, at(86_400))).toBe(undefined);
  });
});

describe('what is counted', () => {
  const chunk = { acceptedAtMs, plannedMs: at(300) } as QueuedChunk;
  const sent: Ended = { outcome: { state: 'sent', platformMessageId: 'wamid' }, result: 'taken' };
  const expired: Ended = { outcome: { state: 'expired', code: 'expired' } };
  const stopped: Ended = { outcome: { state: 'failed', code: 'cancelled' } };
  const again: Ended = { outcome: { state: 'again', dueMs: at(900) }, result: 'refused' };

  it.each([
    ['a message that left in time', chunk, recipient, sent, 400, [1, undefined]],
    ['a message that left late', chunk, recipient, sent, 700, [1, 1]],
    ['a message that is too old, and was never called', chunk, recipient, expired, 400, [1, 1]],
    ['one who was never called', chunk, recipient, stopped, 700, undefined],
    ['one who is tried again', chunk, recipient, again, 700, undefined],
    ['one whose credential was refused', chunk, { index: 0, attempts: { credential: 1 } }, sent, 700, undefined],
    ['one to whom the number must not write yet', chunk, { index: 0, attempts: { pair: 2 } }, sent, 700, undefined],
    ['one who has waited for a hold', withoutPlan(chunk), recipient, sent, 700, undefined],
  ] as const)('%s', async (_, of, who, ended, left, counted) => {
    const [line] = await countedBy(async () => countPunctuality(of, who, ended, at(left)));
    expect(line && [line['MessagesDue'], line['MessagesLate']]).toEqual(counted);
  });
});

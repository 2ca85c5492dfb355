import { describe, expect, test } from 'vitest';
import type { Outcome, Slice } from '../../../../lib/messages/dispatch/slice.ts';
import { processReceipts } from '../../../../lib/messages/receipts/process-receipts.ts';
import type { Receipt } from '../../../../lib/messages/receipts/receipt.ts';
import { ReceiptWorld } from '../../../support/receipt-world.ts';
import { scenarioHead, startMs } from '../../../support/scenario-dispatch.ts';

/** A failure by receipt may hold messages that are not sent yet (D46). */

const head = { ...scenarioHead, category: 'MARKETING' };
const nowMs = startMs + 3_600_000;

/** The dispatch's first messages have failed, a moment ago by default. */
async function afterFailures(codes: readonly string[], { ageMs = 1_000, slices = [] as readonly Slice[] } = {}) {
  const world = new ReceiptWorld();
  world.nowMs = nowMs;
  world.table.put(...slices);
  const { dispatchId, wabaId, phoneNumberId } = head;
  const receipts = codes.map((code, index): Receipt => {
    return { dispatchId, index, status: 'failed', atMs: nowMs - ageMs, platformMessageId: `wamid.${index}`, code };
  });
  const body = JSON.stringify({ version: 1, numbers: [{ wabaId, phoneNumberId, receipts }] });
  const left = await processReceipts([{ messageId: 'm', body }], world.ports([head]));
  return { world, left, holds: world.holds.of(wabaId).holds };
}

const taken = (held?: string): Outcome => ({
  state: 'sent',
  platformMessageId: 'wamid',
  held,
});

function sliceOf(...outcomes: readonly Outcome[]): Slice {
  const key = { dispatchId: head.dispatchId, slice: 0 };
  return { key, try: 0, version: 2, owner: 'run', atMs: startMs, state: 'ended', outcomes };
}

describe('what concerns an account, a number or a template opens its hold', () => {
  test.each([
    ['131042', 'waba'],
    ['131037', `number:${head.phoneNumberId}`],
    ['131048', `marketing:${head.phoneNumberId}`],
    ['131063', `edge:${head.phoneNumberId}`],
    ['132015', `template:${head.templateName}/${head.templateLanguage}`],
  ])('%s: %s', async (code, scope) => {
    const { holds, world } = await afterFailures([code, '131026']);
    expect(holds).toEqual({ [scope]: expect.objectContaining({ code, sinceMs: nowMs, afterTaken: true }) });
    expect(world.calls).not.toContain('findSlices');
  });

  test('not when it was told longer than a minute ago', async () => {
    expect((await afterFailures(['131042'], { ageMs: 60_001 })).holds).toEqual({});
    expect((await afterFailures(['131042'], { ageMs: 60_000 })).holds).not.toEqual({});
  });
});

test.each(['131049', '131050', '131026', '130472', '130403', '137000', '131021', '131062', '130497'])(
  '%s is about a person: three hundred in a row change no hold, and their client is told of them, which is all',
  async (code) => {
    const { world, left } = await afterFailures(Array(300).fill(code));
    expect([left, world.holds.stored.size]).toEqual([[], 0]);
    expect(world.events.sent.map(({ type }) => type)).toEqual(Array(300).fill('message.failed'));
    expect(new Set(world.calls)).toEqual(new Set(['append', 'dispatchesWithUnknown', 'ofGroup', 'addressesOf']));
  },
);

describe('135000 is told of two things', () => {
  const held = 'held_for_quality_assessment';

  test('a message that was held and is dropped: the WABA is held', async () => {
    const { holds, world } = await afterFailures(['135000', '135000'], { slices: [sliceOf(taken(), taken(held))] });
    expect(holds).toEqual({ waba: expect.objectContaining({ code: '135000', afterTaken: true }) });
    expect(world.logged).toContainEqual({
      event: 'hold.opened',
      facts: { wabaId: head.wabaId, scope: 'waba', code: '135000' },
    });
  });

  test.each<[string, readonly Slice[]]>([
    ['was taken and not held', [sliceOf(taken(), { state: 'failed', code: '131026' }, taken(held))]],
    ['nothing is recorded of yet', []],
  ])('a message that %s is at fault itself: nothing is held', async (_, slices) => {
    expect((await afterFailures(['135000', '135000'], { slices })).holds).toEqual({});
  });

  test('slices that cannot be read hold nothing, and lose no receipt', async () => {
    const world = new ReceiptWorld();
    world.nowMs = nowMs;
    const { dispatchId, wabaId, phoneNumberId } = head;
    const receipt = {
      dispatchId,
      index: 0,
      status: 'failed',
      atMs: nowMs,
      platformMessageId: 'wamid.0',
      code: '135000',
    };
    const body = JSON.stringify({ version: 1, numbers: [{ wabaId, phoneNumberId, receipts: [receipt] }] });
    const ports = world.ports([head]);
    const findAll = async () => Promise.reject(new Error('no table'));
    const slices = { ...ports.slices, findAll };
    expect(await processReceipts([{ messageId: 'm', body }], { ...ports, slices })).toEqual([]);
    expect(world.table.receipts[`${dispatchId}-0`]).toHaveLength(1);
    expect(world.logged).toContainEqual({ event: 'hold.not_changed', facts: { wabaId, error: 'Error' } });
  });
});

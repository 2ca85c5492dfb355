import { describe, expect, test } from 'vitest';
import { type PresetWorld, presets } from '../console/fault-presets.ts';
import { actionIn, courseIn, messagesIn, requestsIn } from '../console/fault-words.ts';
import { holdsInForce } from '../console/holds-in-force.ts';
import { firstNumber, firstWaba, recipient, simulatorOfFile } from './support/simulator.ts';

/* A send shows the effect of each of the console's ten fault presets. */

const simulator = simulatorOfFile({ afresh: true });
const updateOf = '1100000000000001';

const worldNow = async (): Promise<PresetWorld> => ({
  ...(await simulator.control('GET', 'overview')).body,
  templates: (await simulator.control('GET', 'templates')).body.data,
});

/** Presses the button of a preset with one of its choices. */
async function add(id: string, choice: string | undefined, times: object = {}): Promise<void> {
  const preset = presets.find((each) => each.id === id) ?? expect.fail(`there is no ${id}`);
  const offered = preset.choice?.options(await worldNow()).map(([value]) => value) ?? [undefined];
  expect(offered).toContain(choice);
  const { path, body } = preset.call(choice ?? '', times);
  const { status, body: answer } = await simulator.control('POST', path, body);
  expect([status, answer]).toEqual([200, expect.anything()]);
}

const codeNow = async (): Promise<unknown> => (await simulator.send(recipient)).body.error?.code ?? 'taken';
const toldNow = async () => {
  const [row] = (await simulator.control('GET', 'inbox')).body.data;
  return row.told.map(({ status, at_ms, code }: { status: string; at_ms: number; code?: number }) => [
    ...[status, at_ms - row.received_ms, code],
  ]);
};

describe('presets', () => {
  test('there are ten: a new one gets a case below', () => {
    expect(presets).toHaveLength(10);
  });

  test.each([
    ['down', undefined, 131000],
    ['throttled', '130429', 130429],
    ['throttled', '131056', 131056],
    ['revoked', undefined, 190],
  ])('%s %s: the next two are refused, and then none', async (id, choice, code) => {
    await add(id, choice, { times: 2 });
    expect([await codeNow(), await codeNow(), await codeNow()]).toEqual([code, code, 'taken']);
  });

  test('applies to sends on both paths only; a revoked token is refused everywhere', async () => {
    await add('down', undefined);
    const marketing = await simulator.post(`${firstNumber}/marketing_messages`, {});
    expect([(await simulator.get(firstWaba)).status, marketing.body.error.code]).toEqual([200, 131000]);
    await simulator.control('DELETE', 'faults');
    await add('revoked', undefined);
    expect((await simulator.get(firstWaba)).body.error.code).toBe(190);
  });

  test('slow: the client that waits less than the 8 seconds has no answer, and nothing was taken', async () => {
    await add('slow', undefined, { times: 1 });
    const { faults } = (await simulator.control('GET', 'overview')).body;
    expect(faults[0]).toMatchObject({ action: { delay_ms: 8_000 }, left: 1 });
    const impatient = fetch(`${simulator.url}/v25.0/${firstNumber}/messages`, {
      method: 'POST',
      signal: AbortSignal.timeout(50),
    });
    await expect(impatient).rejects.toThrow();
    expect(await codeNow()).toBe('taken');
  });

  test('cut: the message is taken, and its answer is lost', async () => {
    await add('cut', undefined, { times: 1 });
    await expect(simulator.send(recipient)).rejects.toThrow();
    expect((await simulator.control('GET', 'messages')).body.total).toBe(1);
  });

  test('paused: messages of that template are refused until the pause ends by the button', async () => {
    await add('paused', updateOf);
    expect(await codeNow()).toBe(132015);
    const hold = holdsInForce((await simulator.control('GET', 'overview')).body)[0];
    expect([hold?.title, hold?.button]).toEqual(['Template order_update (en_US): paused', 'End the pause']);
    expect([hold?.sinceMs, hold?.untilMs]).toEqual(
      ['12:00:00', '15:00:00'].map((at) => Date.parse(`2026-11-20T${at}Z`)),
    );
  });

  test('unpaid: the account alone', async () => {
    await add('unpaid', firstWaba);
    expect(await codeNow()).toBe(131042);
    expect(holdsInForce((await simulator.control('GET', 'overview')).body)[0]?.title).toBe(
      'Andes Retail: payment problem (131042)',
    );
  });

  test('twenty: the 21st of a second is refused', async () => {
    await add('twenty', firstNumber);
    const codes = [];
    for (let sent = 0; sent < 21; sent += 1) {
      codes.push((await simulator.send(String(5_491_150_000_100 + sent))).body.error?.code ?? 'taken');
    }
    expect(codes).toEqual([...Array.from({ length: 20 }, () => 'taken'), 130429]);
  });

  test.each([
    [
      'late',
      [
        ['sent', 600_000],
        ['delivered', 601_000],
        ['read', 603_000],
      ],
    ],
    [
      'doubled',
      [
        ['sent', 3_000],
        ['sent', 3_000],
        ['delivered', 1_000],
        ['delivered', 1_000],
        ['read', 0],
        ['read', 0],
      ],
    ],
    ['lost', []],
  ])('receipts %s: of the next message', async (how, told) => {
    await add('receipts', how, { times: 1 });
    expect(await codeNow()).toBe('taken');
    const seen = (await toldNow()).map(([status, afterMs]: unknown[]) => `${status} ${afterMs}`).sort();
    expect(seen).toEqual(told.map(([status, afterMs]) => `${status} ${afterMs}`).sort());
  });

  test('media: accepted, and failed with 131053', async () => {
    await add('media', undefined, { times: 1 });
    expect([await codeNow(), await toldNow()]).toEqual(['taken', [['failed', 1_000, 131053]]]);
  });
});

describe('in words', () => {
  test.each([
    [{ method: 'POST', path: 'messages' }, { drop: 'after' }, 'Sends are carried out, and the answer is lost'],
    [
      { path: '/messages', to: '549' },
      { delay_ms: 8_000 },
      'Requests with /messages in the path to 549 wait 8 seconds for the answer',
    ],
    [
      { method: 'GET' },
      { status: 500, code: 131000, delay_ms: 1 },
      'GET requests wait 1 millisecond for the answer, and are refused with HTTP 500, code 131000',
    ],
    [
      {},
      { html: true, drop: 'before' },
      'Requests get no answer: the connection is closed before anything is done, and get a web page instead of JSON',
    ],
    [
      {},
      { subcode: 2388023, message_status: 'paused' },
      'Requests are refused with subcode 2388023, and are accepted as “paused”',
    ],
  ])('a fault: %o %o', (match, action, sentence) => {
    expect(`${requestsIn(match)} ${actionIn(action)}`).toBe(sentence);
  });

  test.each([
    [{}, { late_ms: 600_000 }, 'Messages have receipts 10 minutes late'],
    [
      { template: 'promo', to: '549' },
      { fail: 131026, failed_after_ms: 5_000 },
      'Messages of promo to 549 fail with code 131026, and fail after 5 seconds',
    ],
    [
      {},
      { delivered_after_ms: null, read_after_ms: 0 },
      'Messages are never delivered, and are read after 0 milliseconds',
    ],
    [
      {},
      { copies: 2, order: 'reversed', lost: true, held_ms: 60_000 },
      'Messages are held for 1 minute, and have each receipt 2 times, and have receipts in reversed order, and have no receipts',
    ],
  ])('a rule: %o %o', (match, course, sentence) => {
    expect(`${messagesIn(match)} ${courseIn(course)}`).toBe(sentence);
  });
});

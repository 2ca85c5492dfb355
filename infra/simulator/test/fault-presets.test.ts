import { describe, expect, test } from 'vitest';
import { type PresetWorld, presets } from '../console/fault-presets.ts';
import { actionIn, courseIn, messagesIn, requestsIn } from '../console/fault-words.ts';
import { holdsInForce } from '../console/holds-in-force.ts';
import { firstNumber, firstWaba, recipient, simulatorOfFile } from './support/simulator.ts';

/* The console's ten fault presets are control calls; faults, limits, template-life and webhooks show what such calls do. */

const simulator = simulatorOfFile({ afresh: true });
const template = '1100000000000001';
const sends = { method: 'POST', path: 'messages' };
const overview = async () => (await simulator.control('GET', 'overview')).body;

const calls: readonly (readonly [id: string, choice: string | undefined, path: string, body: object])[] = [
  ['slow', undefined, 'faults', { match: sends, action: { delay_ms: 8_000 }, times: 1 }],
  ['cut', undefined, 'faults', { match: sends, action: { drop: 'after' }, times: 1 }],
  ['down', undefined, 'faults', { match: sends, action: { status: 500, code: 131000 }, times: 1 }],
  ['throttled', '130429', 'faults', { match: sends, action: { code: 130429 }, times: 1 }],
  ['throttled', '131056', 'faults', { match: sends, action: { code: 131056 }, times: 1 }],
  ['paused', template, `templates/${template}/pause`, {}],
  ['revoked', undefined, 'faults', { match: {}, action: { code: 190 }, times: 1 }],
  ['unpaid', firstWaba, `wabas/${firstWaba}/holds`, { code: 131042 }],
  ['twenty', firstNumber, `numbers/${firstNumber}`, { is_on_biz_app: true }],
  ['receipts', 'late', 'receipts', { course: { late_ms: 600_000 }, times: 1 }],
  ['receipts', 'doubled', 'receipts', { course: { copies: 2, order: 'reversed' }, times: 1 }],
  ['receipts', 'lost', 'receipts', { course: { lost: true }, times: 1 }],
  ['media', undefined, 'receipts', { course: { fail: 131053 }, times: 1 }],
];

test.each(calls)('the preset %s %s is a call that the simulator takes', async (id, choice, path, body) => {
  const preset = presets.find((each) => each.id === id) ?? expect.fail(`there is no ${id}`);
  const templates = (await simulator.control('GET', 'templates')).body.data;
  const world: PresetWorld = { ...(await overview()), templates };
  expect(preset.choice?.options(world).map(([value]) => value) ?? [undefined]).toContain(choice);
  expect(preset.call(choice ?? '', { times: 1 })).toEqual({ path, body });
  expect((await simulator.control('POST', path, body)).status).toBe(200);
});

test('each preset is one of these', () => {
  expect(new Set(calls.map(([id]) => id))).toEqual(new Set(presets.map(({ id }) => id)));
});

test('a revoked token is refused everywhere, a failing platform on both paths of sends', async () => {
  const codes = async () => [
    (await simulator.get(firstWaba)).body.error?.code,
    (await simulator.send(recipient)).body.error?.code,
    (await simulator.post(`${firstNumber}/marketing_messages`, {})).body.error?.code,
  ];
  await simulator.control('POST', 'faults', { match: sends, action: { status: 500, code: 131000 } });
  expect(await codes()).toEqual([undefined, 131000, 131000]);
  await simulator.control('DELETE', 'faults');
  await simulator.control('POST', 'faults', { match: {}, action: { code: 190 } });
  expect(await codes()).toEqual([190, 190, 190]);
});

test.each([
  [`templates/${template}/pause`, {}, 'Template order_update (en_US): paused', 'End the pause', '2026-11-20T15:00:00Z'],
  [
    `wabas/${firstWaba}/holds`,
    { code: 131042 },
    'Andes Retail: payment problem (131042)',
    'Remove the hold',
    undefined,
  ],
])('what %s holds is told with the button that ends it', async (path, body, title, button, until) => {
  await simulator.control('POST', path, body);
  const [hold] = holdsInForce(await overview());
  expect([hold?.title, hold?.button, hold?.sinceMs]).toEqual([title, button, Date.parse('2026-11-20T12:00:00Z')]);
  expect(hold?.untilMs ?? undefined).toBe(until === undefined ? undefined : Date.parse(until));
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

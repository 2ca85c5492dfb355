import { createServer } from 'node:http';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import type { DemoClient } from '../../infra/local/demo/client.ts';
import { closeAtOnce, openOnLoopback } from '../../infra/loopback.ts';
import { reportedStates } from '../../lib/messages/receipts/reported-state.ts';
import type { StateCounts } from '../proof/trial/record.ts';
import { Trial } from '../proof/trial/trial.ts';

/* What a trial says in the end of a platform's record and of reports: that it is well, or what must not be. */

const record = { taken: [] as string[], duplicates: 0 };
const rows: { to: string; state: string }[] = [];
const server = createServer((request, response) => {
  const data = record.taken.map((id) => ({ to: `to-${id}`, request: { biz_opaque_callback_data: id } }));
  const answers: Readonly<Record<string, unknown>> = {
    messages: { data },
    sending: { data: [], duplicates: { total: record.duplicates } },
    webhooks: { planned: 0, due: 0 },
  };
  response.end(JSON.stringify(answers[/_control\/(\w+)/.exec(request.url ?? '')?.[1] ?? '']));
});
let platformUrl = '';

beforeAll(async () => {
  platformUrl = `http://127.0.0.1:${await openOnLoopback(server, 0)}`;
});

afterAll(() => closeAtOnce(server));

function trialUntil(endMs: number): Trial {
  const of = (state: string) => rows.filter((row) => row.state === state).length;
  const counts = () => Object.fromEntries(reportedStates.map((state) => [state, of(state)])) as StateCounts;
  const client: Partial<DemoClient> = {
    report: async () => ({ total: rows.length, counts: counts(), data: [] }),
    rows: async () => rows as never,
  };
  const logIn = async () => client as DemoClient;
  const trial = new Trial({ platformUrl, logIn, signal: new AbortController().signal, endMs });
  trial.dispatches.push({ client: client as DemoClient, clientId: 1, did: '1', dispatchId: 'J', total: rows.length });
  return trial;
}

const later = () => performance.now() + 60_000;

function given(states: readonly string[], taken: readonly string[], duplicates = 0): void {
  rows.splice(0, rows.length, ...states.map((state, index) => ({ to: `to-J-${index}`, state })));
  Object.assign(record, { taken, duplicates });
}

test('all were reached once: well', async () => {
  given(['read', 'sent', 'unknown'], ['J-0', 'J-1']);
  expect((await trialUntil(later()).compared()).faults).toEqual([]);
});

test.each([
  [
    'one was taken twice',
    ['read'],
    ['J-0', 'J-0'],
    1,
    ['1 messages were sent twice', '1 message ids were accepted twice'],
  ],
  ['one was never taken', ['sent', 'sent'], ['J-0'], 0, [expect.stringContaining('1 were never sent')]],
  ['one is told otherwise', ['failed'], ['J-0'], 0, [expect.stringContaining('1 are told as not sent')]],
])('%s', async (_, states, taken, duplicates, faults) => {
  given(states, taken, duplicates);
  expect((await trialUntil(later()).compared()).faults).toEqual(faults);
});

test('what is pending when the time is over is told, and not waited for', async () => {
  given(['pending'], []);
  const { faults } = await trialUntil(performance.now()).compared();
  expect(faults).toEqual([expect.stringContaining('1 were never sent'), 'the time was not enough']);
});

test('a fault fails the proof', async () => {
  vi.spyOn(console, 'log').mockReturnValue();
  given(['sent'], []);
  await expect(trialUntil(later()).proven()).rejects.toThrow('1 were never sent');
});

import { readFileSync } from 'node:fs';
import * as v from 'valibot';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { addressOf } from '../support/addresses.ts';
import { as, eventually, platform, synchronize } from '../support/api.ts';
import { endingsOf, outcomesOn, runningTarget } from '../support/running-target.ts';
import { sendTo } from '../support/sends.ts';

const workers = ['messages-dispatch', 'messages-dispatch-urgent'];
const to = (index: number) => String(549_710_000_000 + index);

const TallySchema = v.object({ tally: v.optional(v.object({ sent: v.optional(v.number(), 0) })) });

interface Line {
  readonly by: string;
  readonly facts: Readonly<Record<string, unknown>>;
}

function lines(): Line[] {
  return readFileSync(addressOf('functionLog'), 'utf8')
    .split('\n')
    .flatMap((line) => {
      const [, by, json] = /^(\S+) \| (\{.*\})$/.exec(line) ?? [];
      return by === undefined || json === undefined ? [] : [{ by, facts: JSON.parse(json) }];
    });
}

function isUnder({ facts: { correlationId, correlationIds } }: Line, id: string): boolean {
  return correlationId === id || (Array.isArray(correlationIds) && correlationIds.includes(id));
}

/** Returns what was logged under an id, each `function event` once and sorted, when there are at least so many. */
async function loggedUnder(id: string, atLeast: number): Promise<string[]> {
  return eventually(`${atLeast} lines are logged under ${id}`, async () => {
    const found = lines()
      .filter((line) => isUnder(line, id))
      .map(({ by, facts }) => `${by} ${facts['event']}`);
    const different = [...new Set(found)];
    return different.length >= atLeast ? different.sort() : undefined;
  });
}

beforeAll(async () => {
  await synchronize('supervisor1001');
});
afterAll(async () => {
  await platform('DELETE /_control/faults');
});

test.each([
  ['straight', 3, 'messages-dispatch-urgent', []],
  ['through the backlog', 12, 'messages-dispatch', ['messages-dispatch dispatch.completed']],
])('one id leads from the answer of a send %s to each of its messages', async (_, count, worker, completed) => {
  await platform('POST /_control/faults', { match: { to: to(2) }, action: { code: 131026 }, times: 1 });
  const headers = { 'x-request-id': 'chosen-by-the-caller' };
  const reply = await sendTo(
    Array.from({ length: count }, (_, index) => to(index)),
    { headers },
  );
  expect(reply.status).toBe(200);
  const id = reply.headers.get('x-request-id') ?? '';
  expect(id).toBe(reply.headers.get('apigw-requestid'));
  expect(id).not.toBe('chosen-by-the-caller');

  const dispatchId = reply.headers.get('dispatch-id') ?? '';
  await endingsOf(outcomesOn(runningTarget()), dispatchId);
  expect(await loggedUnder(id, 3 + completed.length)).toEqual([
    ...completed,
    `${worker} send.batch`,
    `${worker} send.failed`,
    'messages-send dispatch.accepted',
  ]);
  const dispatched = await eventually('each of them is logged', async () => {
    const found = lines().filter((line) => line.by === worker && isUnder(line, id));
    const sent = found.reduce((sum, { facts }) => sum + (v.parse(TallySchema, facts).tally?.sent ?? 0), 0);
    return sent === count - 1 ? found : undefined;
  });
  const failed = dispatched.filter(({ facts }) => facts['event'] === 'send.failed');
  expect(failed.map(({ facts }) => facts['messageId'])).toEqual([`${dispatchId}-2`]);
});

test('what the functions count reaches the log as metrics of this deployment', async () => {
  // Metrics are written at the end of the run, after its other lines.
  const counted = await eventually('the workers have counted', async () => {
    const found = lines().filter(({ facts }) => '_aws' in facts);
    const has = (metric: string) =>
      workers.every((worker) => found.some(({ by, facts }) => by === worker && metric in facts));
    return has('MessagesSent') && has('MessagesFailed') ? found : undefined;
  });
  for (const { facts } of counted) expect(facts['service']).toBe('template-messaging-local-service');
  const by = (metric: string) => new Set(counted.filter(({ facts }) => metric in facts).map((line) => line.by));
  // Other test files of the stack retry.
  expect(['messages-send', 'messages-retry']).toEqual(expect.arrayContaining([...by('RecipientsAccepted')]));
  expect(by('MessagesSent')).toEqual(new Set(workers));
  expect(by('SyncsCompleted')).toEqual(new Set(['templates-sync-worker']));
  const refused = counted.filter(({ facts }) => facts['code'] === '131026').map(({ facts }) => facts['PlatformErrors']);
  expect(refused).not.toEqual([]);
});

test('a synchronization is logged under the id of the request that began it', async () => {
  const reply = await eventually('no other synchronization holds the lock', async () => {
    const answered = await as('supervisor1001', 'POST /v1/templates/sync-from-platform');
    return answered.status === 409 ? undefined : answered;
  });
  expect(reply.status).toBe(200);
  const id = reply.headers.get('x-request-id') ?? '';
  expect(await loggedUnder(id, 2)).toEqual(['templates-sync sync.started', 'templates-sync-worker sync.completed']);
});

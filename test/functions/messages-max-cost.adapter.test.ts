import { describe, expect, test } from 'vitest';
import { recordOptOut } from '../../lib/opt-outs/record-opt-out.ts';
import { body, makeTemplate, sendable } from '../support/platform-templates.ts';
import { sendRequest as request } from '../support/send-requests.ts';
import { sendingEndpoint, startMs } from '../support/sending.ts';

const templates = {
  ...sendable,
  promo: makeTemplate([body('x')], { category: 'MARKETING' }),
};

/*
 * Amounts and what is priced as what are in test/lib/{messages/budget/cost-limits,pricing/estimate}.test.ts, the header in
 * test/lib/http/request-headers.test.ts, rehearsals and what clients are told in contract/budgets.test.ts.
 */

/** A message to Argentina costs 0.026 as utility and 0.0618 as marketing. */
const ofArgentina = (count: number) => Array.from({ length: count }, (_, at) => String(5_491_155_550_001 + at));
const most = (dollars: string) => ({ 'max-cost': dollars });
const dollars = (units: number) => Math.round(units) / 100_000_000;

type Endpoint = Awaited<ReturnType<typeof sendingEndpoint>>;

async function leftNothing({ accepted, queueAttempts, tableAttempts }: Endpoint) {
  expect(queueAttempts).toEqual([]);
  expect(
    tableAttempts.map(({ command }) => command).filter((command) => !/^(?:Batch)?Get|^Query/.test(command)),
  ).toEqual([]);
  expect(await accepted()).toEqual({ wakes: [], requests: [] });
}

describe('Max-Cost (R57, D58)', () => {
  test.each([2, 11])('a send of %i that costs more is refused with its estimate, and leaves nothing', async (count) => {
    const endpoint = await sendingEndpoint({ templates });
    const repeated = [...ofArgentina(count), '+5491155550001'];
    const cost = { amount: (count * 26_000) / 1_000_000, currency: 'USD' };
    const less = (cost.amount - 0.001).toFixed(3);
    expect(await endpoint.send(request(repeated), { headers: most(less) })).toMatchObject({
      status: 422,
      body: { code: 'over_max_cost', estimate: { cost } },
    });
    await leftNothing(endpoint);
    const { status, headers } = await endpoint.send(request(repeated), { headers: most(cost.amount.toFixed(8)) });
    expect([status, headers['dispatch-id']]).toEqual([200, expect.any(String)]);
  });

  test('who has opted out costs nothing, and is looked for only where there is a limit', async () => {
    const { send, optOuts, tableAttempts } = await sendingEndpoint({ templates });
    const word = { says: 'stopped', atMs: startMs, source: 'reply' } as const;
    const [person = ''] = ofArgentina(1);
    await recordOptOut({ scope: { kind: 'client', clientId: 1001 }, recipients: [person], word }, optOuts);
    const reads = async (headers: Record<string, string>) => {
      const before = tableAttempts.length;
      const { status } = await send(request(ofArgentina(2), 'promo'), { headers });
      return [status, tableAttempts.slice(before).filter(({ command }) => command === 'BatchGetItemCommand').length];
    };
    expect(await reads(most('0.0618'))).toEqual([200, 2]);
    expect(await reads({})).toEqual([200, 0]);
  });

  test('it is a guard and no part of the send: the same key with another one is answered the same', async () => {
    const { send, accepted } = await sendingEndpoint({ templates });
    const key = { 'idempotency-key': 'k' };
    const refused = await send(request(ofArgentina(2)), { headers: { ...key, ...most('0.01') } });
    const sent = await send(request(ofArgentina(2)), { headers: { ...key, ...most('1') } });
    const again = await send(request(ofArgentina(2)), { headers: { ...key, ...most('0.01') } });
    expect([refused.status, sent.status, again.status]).toEqual([422, 200, 200]);
    expect(again.headers['dispatch-id']).toBe(sent.headers['dispatch-id']);
    expect((await accepted()).requests).toHaveLength(1);
  });
});

describe('the budget of a client for a month (R57, D58)', () => {
  const budget = (amount: number, stop: boolean) => ({ monthlyBudgets: [{ clientId: 1001, amount, stop }] });

  test('a send is reserved before it is queued; what does not fit is refused and keeps nothing', async () => {
    const endpoint = await sendingEndpoint({ templates, ...budget(0.07, true) });
    expect((await endpoint.send(request(ofArgentina(2)))).status).toBe(200);
    expect(dollars(await endpoint.budgets.committedUnits(1001, startMs))).toBe(0.052);
    const refused = await endpoint.send(request(ofArgentina(1)));
    expect(refused).toMatchObject({
      status: 422,
      body: {
        code: 'over_budget',
        message:
          'the send would cost 0.026 USD at list prices; of the monthly budget of 0.07 USD, 0.052 USD are spent or reserved',
        estimate: { cost: { amount: 0.026, currency: 'USD' } },
      },
    });
    expect(dollars(await endpoint.budgets.committedUnits(1001, startMs))).toBe(0.052);
  });

  test('one-time codes pass, and count; so does everything where the budget only warns', async () => {
    const stopping = await sendingEndpoint({ templates, ...budget(0.01, true) });
    const code = await stopping.send(request(ofArgentina(1), 'code', { body: ['123456'] }));
    expect([code.status, await stopping.budgets.committedUnits(1001, startMs)]).toEqual([200, 2_600_000]);
    const warning = await sendingEndpoint({ templates, ...budget(0.01, false) });
    expect((await warning.send(request(ofArgentina(2)))).status).toBe(200);
  });

  test('a client without one pays nothing for it: neither a read nor a write', async () => {
    const other = await sendingEndpoint({ templates, monthlyBudgets: [{ clientId: 1002, amount: 1, stop: true }] });
    await other.send(request(ofArgentina(2)));
    const without = await sendingEndpoint({ templates });
    await without.send(request(ofArgentina(2)));
    const commands = ({ tableAttempts }: Endpoint) => tableAttempts.map(({ command }) => command);
    expect(commands(other)).toEqual(commands(without));
    expect(await other.budgets.committedUnits(1001, startMs)).toBe(0);
  });

  test('the same key reserves once; a send that cannot be queued gives back what it reserved', async () => {
    const broken = await sendingEndpoint({ templates, ...budget(1, true), queueFaults: () => 'before' });
    expect((await broken.send(request(ofArgentina(10)))).body.code).toBe('dispatch_unavailable');
    expect(await broken.budgets.committedUnits(1001, startMs)).toBe(0);
    const endpoint = await sendingEndpoint({ templates, ...budget(1, true) });
    const headers = { 'idempotency-key': 'k' };
    for (const _ of [1, 2]) await endpoint.send(request(ofArgentina(2)), { headers });
    expect(await endpoint.budgets.committedUnits(1001, startMs)).toBe(5_200_000);
  });

  test('80 and 100 percent are told once, and what was not told before is told by the next send', async () => {
    const { send, events } = await sendingEndpoint({ templates, ...budget(0.1, false) });
    const told = () => events.sent.map(({ type, data }) => [type, data]);
    const data = (percent: number, amount: number) => [
      'budget.reached',
      {
        ...{ month: '2023-11', percent, stop: false },
        budget: { amount: 0.1, currency: 'USD' },
        committed: { amount, currency: 'USD' },
      },
    ];
    await send(request(ofArgentina(3)));
    expect(told()).toEqual([]);
    events.broken = true;
    expect((await send(request(ofArgentina(1)))).status).toBe(200);
    expect(told()).toEqual([]);
    events.broken = false;
    await send(request(ofArgentina(1)));
    expect(told()).toEqual([data(80, 0.13), data(100, 0.13)]);
    await send(request(ofArgentina(1)));
    expect(told()).toHaveLength(2);
    expect(new Set(events.sent.map(({ id }) => id)).size).toBe(2);
  });

  test('a refused send tells it too: a budget that stops lets no other one through', async () => {
    const { send, events } = await sendingEndpoint({ templates, ...budget(0.104, true) });
    events.broken = true;
    expect((await send(request(ofArgentina(4)))).status).toBe(200);
    events.broken = false;
    for (const _ of [1, 2]) expect((await send(request(ofArgentina(1)))).status).toBe(422);
    const committed = { amount: 0.104, currency: 'USD' };
    expect(events.sent.map(({ data }) => data)).toMatchObject([80, 100].map((percent) => ({ percent, committed })));
  });
});

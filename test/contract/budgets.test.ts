import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import demo from '../../infra/local/demo/provisioning.json' with { type: 'json' };
import { provision } from '../../infra/operate/tables/provisioning-run.ts';
import { addressOf } from '../support/addresses.ts';
import { type ApiReply, api, eventually, platform, synchronize, tokenOf } from '../support/api.ts';
import { tellAt } from '../support/callback.ts';
import { eventFaults } from '../support/documented.ts';
import { receiveEvents } from '../support/event-receiver.ts';
import { runningTarget } from '../support/running-target.ts';
import { bodyTo, code, coupon, type Sending, takenOf } from '../support/sends.ts';

/*
 * Clients see over HTTP what a send may cost and what it cost (D58). A utility message and a code to Argentina cost
 * 0.026 dollars each.
 */

const did = '5491100000001';
const run = String(Date.now() % 1_000_000).padStart(6, '0');
let people = 0;
/** Returns a number that no other test uses, by default of Argentina. */
function somebody(country = '54923'): string {
  people += 1;
  return `${country}${run}${String(people).padStart(3, '0')}`;
}

interface Sent extends Pick<Sending, 'of' | 'headers'> {
  readonly to: readonly string[];
}

const send = (token: string, { to, headers, ...sending }: Sent): Promise<ApiReply> =>
  api(`POST /v1/template/messages/${did}`, { token, body: bodyTo(to, sending), headers });
const takenBy = (to: string) => takenOf(`to=${to}`);

beforeAll(async () => {
  await synchronize('supervisor1001');
  await tellAt(addressOf('platformUrl'), `${addressOf('apiUrl')}/platform/webhook`);
});
afterAll(async () => {
  await platform('DELETE /_control/faults').catch(() => undefined);
  await tellAt(addressOf('platformUrl'), null);
  await provision(demo, runningTarget(), { removalsAllowed: 5 });
});

test('Max-Cost refuses what costs more, tells a rehearsal so, and lets the rest pass, whose report says what it cost (R57)', async () => {
  const token = await tokenOf('supervisor1001');
  const to = [somebody(), somebody()];
  const refused = await send(token, { to, headers: { 'Max-Cost': '0.0519' } });
  const message = 'the send would cost 0.052 USD at list prices, Max-Cost is 0.0519 USD';
  const estimate = { cost: { amount: 0.052, currency: 'USD' } };
  expect([refused.status, refused.body]).toEqual([422, { message, code: 'over_max_cost', estimate }]);
  const rehearsed = await send(token, { to, headers: { 'Max-Cost': '0.0519', 'Dry-Run': 'true' } });
  expect(rehearsed).toMatchObject({
    status: 200,
    body: { would_refuse: { code: 'over_max_cost', message }, estimate },
  });
  const slipped = await send(token, { to, headers: { 'Max-Cost': '0,06' } });
  expect(slipped).toMatchObject({ status: 400, body: { code: 'invalid_request', errors: [{ path: 'Max-Cost' }] } });

  const sent = await send(token, { to, headers: { 'Max-Cost': '0.052' } });
  expect(sent.status).toBe(200);
  const report = `GET /v1/template/messages/${did}/${sent.headers.get('dispatch-id')}?limit=1`;
  const first = await eventually('the last word on its cost', async () => {
    const { body } = await api(report, { token });
    // A read may be recorded before the delivery, which has the platform's pricing.
    return body.cost.final && body.cost.basis === 'platform' && body.counts.read === 2 ? body : undefined;
  });
  expect(first.cost).toEqual({ amount: 0.052, currency: 'USD', basis: 'platform', final: true });
  const second = await api(`${report}&cursor=${first.paging.cursors.after}`, { token });
  expect(second.body.cost).toEqual(first.cost);
  // The refused send and the rehearsal sent nothing, so each recipient has one message.
  expect(await Promise.all(to.map(takenBy))).toEqual([1, 1]);
});

test('what was spent is what the platform bills, whatever becomes of its receipts, and a retry costs once (R56)', async () => {
  const token = await tokenOf('supervisor1001');
  // No other test sends to these countries, so that their lines of the bill are this test's.
  const [iceland, nepal, uruguay] = ['354', '977', '598'];
  const markets = ['IS', 'NP', 'UY'];
  const courseOf = async (to: string, course: object) =>
    await platform('POST /_control/receipts', { match: { to }, course });
  const [doubled, readOnly, failing, undelivered] = [
    ...[somebody(iceland), somebody(nepal), somebody(uruguay), somebody(nepal)],
  ] as const;
  await courseOf(doubled, { copies: 3, order: 'reversed' });
  await courseOf(readOnly, { delivered_after_ms: null });
  await courseOf(failing, { fail: 131_026 });
  await courseOf(undelivered, { delivered_after_ms: null, read_after_ms: null });
  expect((await send(token, { to: [doubled, readOnly, failing] })).status).toBe(200);
  expect((await send(token, { to: [somebody(nepal), undelivered], of: coupon })).status).toBe(200);
  expect((await send(token, { to: [somebody(iceland)], of: code })).status).toBe(200);

  // A repeated recipient keeps a send from going straight, so that it is stored and can be retried.
  const late = somebody(uruguay);
  await platform('POST /_control/faults', { match: { to: late }, action: { code: 132_069 }, times: 1 });
  const source = (await send(token, { to: [late, somebody(uruguay), late] })).headers.get('dispatch-id');
  await eventually('the failure', async () => {
    const { body } = await api(`GET /v1/template/messages/${did}/${source}`, { token });
    return body.counts.failed === 2 && body.complete ? true : undefined;
  });
  const retry = `POST /v1/template/messages/${did}/${source}/retry`;
  const tooDear = await api(retry, { token, headers: { 'Max-Cost': '0.0001' } });
  expect([tooDear.status, tooDear.body.code]).toEqual([422, 'over_max_cost']);
  expect((await api(retry, { token, headers: { 'Max-Cost': '0.02' } })).status).toBe(200);

  const dayOf = (ms: number) => new Date(ms).toISOString().slice(0, 10);
  const [from, to] = [dayOf(Date.now() - 86_400_000), dayOf(Date.now() + 86_400_000)];
  const spent = async (group: string, of = token) =>
    (await api(`GET /v1/spend?group=${group}&from=${from}&to=${to}`, { token: of })).body;
  const ours = await eventually('six deliveries are counted', async () => {
    const rows = (await spent('market')).data.filter(({ market }: { market: string }) => markets.includes(market));
    return rows.reduce((sum: number, { messages }: { messages: number }) => sum + messages, 0) >= 6 ? rows : undefined;
  });
  const bill = (await platform('GET /_control/bill')).body.data;
  const units = (dollars: number) => Math.round(dollars * 1e8);
  const billed = markets.map((market) => {
    const lines: { volume: number; cost: number }[] = bill.filter(
      ({ country }: { country: string }) => country === market,
    );
    return [
      market,
      lines.reduce((sum, { volume }) => sum + volume, 0),
      lines.reduce((sum, { cost }) => sum + units(cost), 0),
    ];
  });
  expect(
    ours
      .map((row: { market: string; messages: number; amount: number }) => [row.market, row.messages, units(row.amount)])
      .sort(),
  ).toEqual(billed);
  expect(billed.map(([, volume]) => volume)).toEqual([2, 2, 2]);
  // Sends of other files may still be counted between two answers.
  await eventually('all groups have one total', async () => {
    const groups = ['campaign', 'template', 'did', 'market'];
    const totals = await Promise.all(groups.map(async (group) => JSON.stringify((await spent(group)).total)));
    return new Set(totals).size === 1 ? true : undefined;
  });
  const { days, total } = await spent('market');
  const sumOf = (kind: string) =>
    days.reduce((sum: number, each: Record<string, number>) => sum + (each[kind] ?? 0), 0);
  expect([sumOf('messages'), units(sumOf('amount'))]).toEqual([total.messages, units(total.amount)]);
  // One failed by its receipt: the platform had taken it.
  expect(sumOf('failed')).toBeGreaterThanOrEqual(1);
  expect(sumOf('calls')).toBeGreaterThan(sumOf('sent'));
  const foreign = await spent('market', await tokenOf('supervisor1002'));
  expect(foreign.data.filter(({ market }: { market: string }) => markets.includes(market))).toEqual([]);
});

describe('a client with a budget (R57)', () => {
  const clientId = 10_000 + (Date.now() % 1_000_000);
  const [username, password] = [`budget${clientId}`, 'budget-password'];

  /** Adds one more client to the demo file, which uses the first WABA and has this budget. */
  const withBudget = (monthly_budget: { readonly amount: number; readonly stop?: boolean }) => ({
    ...demo,
    clients: [...demo.clients, { client_id: clientId, name: 'Thrifty', monthly_budget }],
    wabas: demo.wabas.map((waba, at) => (at === 0 ? { ...waba, client_ids: [...waba.client_ids, clientId] } : waba)),
    users: [...demo.users, { username, client_id: clientId, password, permissions: [], campaign_ids: [] }],
  });
  const logIn = async (): Promise<string> =>
    (await api('POST /login', { body: { username, password } })).body.access_token;

  test('cancels what waits, which frees what it had reserved at once (D53)', async () => {
    await provision(withBudget({ amount: 0.1, stop: true }), runningTarget());
    const token = await logIn();
    const headers = { 'Send-At': new Date(Date.now() + 3_600_000).toISOString() };
    const waiting = await send(token, { to: [somebody(), somebody(), somebody()], headers });
    const rehearse = async () => (await send(token, { to: [somebody()], headers: { 'Dry-Run': 'true' } })).body;
    expect((await rehearse()).would_refuse).toMatchObject({ code: 'over_budget' });
    const cancel = `DELETE /v1/template/messages/${did}/${waiting.headers.get('dispatch-id')}`;
    expect((await api(cancel, { token })).body.counts).toMatchObject({ failed: 3, pending: 0 });
    expect(await rehearse()).not.toHaveProperty('would_refuse');
    expect((await api(cancel, { token })).status).toBe(200);
  });

  test('is told at 80 and 100 percent, and refused above it where it stops; one-time codes pass', async () => {
    await provision(withBudget({ amount: 0.06, stop: true }), runningTarget());
    const token = await logIn();
    const { deliveries } = await receiveEvents({ clientId, token }, ['budget.reached']);
    const told = () => deliveries.map((each) => JSON.parse(each.body.toString()));
    const isTold = async (percent: number) =>
      await eventually(`${percent} percent`, async () => told().find(({ data }) => data.percent === percent));

    const to = [somebody(), somebody()];
    expect((await send(token, { to })).status).toBe(200);
    const late = somebody();
    const refused = await send(token, { to: [late] });
    // What the first send could not tell in its time, on a busy machine, the refused one tells.
    const [month, budget] = [new Date().toISOString().slice(0, 7), { amount: 0.06, currency: 'USD' }];
    expect((await isTold(80)).data).toEqual({
      ...{ month, percent: 80, stop: true, budget },
      committed: { amount: 0.052, currency: 'USD' },
    });
    const { message } = refused.body;
    expect(refused).toMatchObject({
      status: 422,
      body: { code: 'over_budget', estimate: { cost: { amount: 0.026, currency: 'USD' } } },
    });
    expect(message).toContain('of the monthly budget of 0.06 USD, 0.052 USD are spent or reserved');
    const rehearsed = await send(token, { to: [late], headers: { 'Dry-Run': 'true' } });
    expect(rehearsed.body.would_refuse).toEqual({ code: 'over_budget', message });

    expect((await send(token, { to: [somebody()], of: code })).status).toBe(200);
    expect((await isTold(100)).data.committed).toEqual({ amount: 0.078, currency: 'USD' });
    expect(deliveries.flatMap((each) => eventFaults(each.body))).toEqual([]);
    expect(await takenBy(late)).toBe(0);

    // Its days have what was cancelled, and nothing of the other client, which sends from the same number.
    const counted = await eventually('three deliveries are counted', async () => {
      const { days, total } = (await api('GET /v1/spend', { token })).body;
      return total.messages === 3 ? days : undefined;
    });
    const today = { sent: 3, failed: 3, held: 0, calls: 3, messages: 3, billed: 3, amount: 0.078, currency: 'USD' };
    expect(counted).toEqual([{ day: expect.stringContaining(month), ...today }]);
  });

  test('is refused nothing where it only warns, from the next send on', async () => {
    await provision(withBudget({ amount: 0.01 }), runningTarget());
    const to = somebody();
    expect((await send(await logIn(), { to: [to] })).status).toBe(200);
    await eventually('the message', async () => ((await takenBy(to)) === 1 ? true : undefined));
  });
});

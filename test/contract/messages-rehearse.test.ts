import { afterAll, beforeAll, expect, test } from 'vitest';
import { addressOf } from '../support/addresses.ts';
import { as, eventually, platform, synchronize } from '../support/api.ts';
import { tellAt } from '../support/callback.ts';
import { type Message, offer, order, reportOf, sendTo } from '../support/sends.ts';

/* A rehearsal tells the cost (D51), and the simulator's record of the send that follows must agree. */

const did = '5491100000001';
const run = String(Date.now() % 1_000_000).padStart(6, '0');

beforeAll(async () => {
  await synchronize('supervisor1001');
  await tellAt(addressOf('platformUrl'), `${addressOf('apiUrl')}/platform/webhook`);
});
afterAll(() => tellAt(addressOf('platformUrl'), null));

/** The last number is of no country, and priced as others are (D32): Cuba is one of them. */
const numbers: readonly (readonly [string, readonly string[]])[] = [
  ['AR', [`54911${run}01`, `+54911${run}02`, `54911${run}03`]],
  ['BR', [`55119${run}01`]],
  ['CA', [`1416${run}1`]],
  ['US', [`1212${run}1`, `1212${run}2`]],
  ['Other', [`999${run}0001`]],
];
const everybody = numbers.flatMap(([, list]) => list);
const send = (of: Message, headers: Readonly<Record<string, string>>) => sendTo(everybody, { of, headers });

async function recorded(template: string): Promise<readonly string[]> {
  const { body } = await platform(`GET /_control/messages?template=${template}&limit=1000`);
  const taken: readonly { readonly request: { readonly to?: string } }[] = body.data;
  const digits = everybody.map((to) => to.replace('+', ''));
  return taken.map(({ request: { to = '' } }) => to.replace('+', '')).filter((to) => digits.includes(to));
}

/** Returns how often the platform got that template for each recipient, whatever it answered. */
async function asked(template: string): Promise<number[]> {
  const { body } = await platform('GET /_control/requests?method=POST&path=/messages&limit=1000000');
  const requests: readonly {
    readonly body: { readonly to?: string; readonly template?: { readonly name?: string } };
  }[] = body.data;
  return everybody.map(
    (to) =>
      requests.filter(({ body: sent }) => sent.to === to.replace('+', '') && sent.template?.name === template).length,
  );
}

/** Returns the failed recipients of the report, once every receipt has arrived. */
async function failedOf(dispatchId: string | null): Promise<readonly (readonly [to: string, code?: string])[]> {
  const rows: readonly { readonly to: string; readonly state: string; readonly code?: string }[] = (
    await reportOf(dispatchId ?? '', ({ counts, total }) => counts.read + counts.failed === total)
  ).data;
  return rows.flatMap(({ to, state, code }) => (state === 'failed' ? [[to, code ?? ''] as const] : []));
}

/** Returns ten-thousandths of a dollar, because every shipped rate is a whole number of them. */
async function listPrice(market: string, category: string): Promise<number> {
  const query = `market=${market === 'Other' ? 'CU' : market}&category=${category}`;
  const { body } = await as('supervisor1001', `GET /v1/pricing?${query}`);
  return Math.round(body.rate.amount * 10_000);
}

test.each([
  ['Marketing', offer],
  ['Utility', order],
] as const)('%s: what the platform then takes costs exactly what was said', async (category, what) => {
  const rehearsed = await send(what, { 'Dry-Run': 'true' });
  expect(rehearsed).toMatchObject({ status: 200, body: { success: true, dry_run: true, recipients: 8 } });
  expect(rehearsed.headers.has('dispatch-id')).toBe(false);
  expect(rehearsed.headers.has('x-ratelimit-remaining')).toBe(true);
  const undelivered = 'since 2025-04-01 the platform delivers no marketing to US: 2 of the recipients will not get it';
  const isMarketing = category === 'Marketing';
  expect(rehearsed.body.warning).toBe(isMarketing ? undelivered : undefined);

  const sent = await send(what, {});
  expect([sent.status, sent.body]).toEqual([200, { success: true, ...(isMarketing ? { warning: undelivered } : {}) }]);
  const taken = await eventually('all of the send', async () => {
    const to = await recorded(what.template.name);
    return to.length >= everybody.length ? to : undefined;
  });
  // The rehearsal sent nothing, so each recipient is there once.
  expect(taken.toSorted()).toEqual(everybody.map((to) => to.replace('+', '')).toSorted());

  // The receipts confirm the warning, and no such message is retried.
  const ofUnitedStates = numbers.flatMap(([market, list]) => (market === 'US' ? list : []));
  expect(await failedOf(sent.headers.get('dispatch-id'))).toEqual(
    isMarketing ? ofUnitedStates.map((to) => [to, '131049']) : [],
  );
  expect(await asked(what.template.name)).toEqual(everybody.map(() => 1));

  const byMarket = new Map<string, { recipients: number; cost: number }>();
  for (const to of taken) {
    const market = numbers.find(([, list]) => list.some((each) => each.replace('+', '') === to))?.[0];
    if (market === undefined || (isMarketing && market === 'US')) continue;
    const { recipients, cost } = byMarket.get(market) ?? { recipients: 0, cost: 0 };
    byMarket.set(market, { recipients: recipients + 1, cost: cost + (await listPrice(market, category)) });
  }
  const costs = [...byMarket].toSorted(([one], [other]) => (one < other ? -1 : 1));
  const total = costs.reduce((sum, [, { cost }]) => sum + cost, 0);
  expect(rehearsed.body.estimate.by_market).toEqual(
    costs.map(([market, { recipients, cost }]) => ({ market, recipients, amount: cost / 10_000 })),
  );
  expect(rehearsed.body.estimate.not_delivered).toEqual(isMarketing ? [{ market: 'US', recipients: 2 }] : undefined);
  expect(rehearsed.body.estimate.cost).toEqual({ amount: total / 10_000, currency: 'USD' });
});

test('a rehearsal is in no list of dispatches', async () => {
  const list = async () => (await as('supervisor1001', `GET /v1/template/messages/${did}?limit=1`)).body;
  const before = await list();
  const rehearsed = await send(order, { 'Dry-Run': 'true', 'Idempotency-Key': `rehearsed-${run}` });
  expect(rehearsed.status).toBe(200);
  expect(await list()).toEqual(before);
});

test('the seconds follow the limit of the number as it was last read, however lately that was', async () => {
  const recipients = Array.from({ length: 500 }, (_, at) => String(5_411_000_000_000 + at));
  const asked = { user: 'supervisor1002', did: '5491100000002', headers: { 'Dry-Run': 'true' } } as const;
  const seconds = async () => (await sendTo(recipients, asked)).body.estimate.seconds;
  const withApp = async (isOnApp: boolean) => {
    await platform('POST /_control/numbers/300000000000002', { is_on_biz_app: isOnApp });
    await synchronize('supervisor1002');
  };
  const before = await seconds();
  try {
    await withApp(true);
    // The first message leaves at once, the others at 18 a second.
    expect([before, await seconds()]).toEqual([1, 28]);
  } finally {
    await withApp(false);
  }
});

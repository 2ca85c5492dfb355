import type { HTTPRequest, Page } from 'puppeteer-core';
import { describe, expect, test, vi } from 'vitest';
import { browserOfFile, consoleOfFile, press, untilSeen } from './support/console-page.ts';

/*
 * Impatient clicks send nothing twice, cancel nothing without confirmation, and make no request without the right to
 * it. The browser answers in place of the service.
 */

const browser = await browserOfFile();
const did = '5491100000001';
const dispatchId = '01KA0000000000000000000000';
const longest = 50_000;

interface Tried {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
}

const report = {
  ...{ dispatch_id: dispatchId, client_id: 1001, did, template: { name: 'order_update', language: 'en_US' } },
  ...{ campaign_id: 10, accepted_at: '2026-11-20T11:00:00.000Z', total: 5, complete: false },
  counts: { pending: 3, held: 0, sent: 0, delivered: 0, read: 0, failed: 2, expired: 0, unknown: 0 },
  cost: { amount: 0, currency: 'USD', basis: 'list', final: false },
  ...{ data: [], paging: { cursors: {} } },
};

const answers: readonly (readonly [RegExp, object])[] = [
  [/^POST \/login/, { access_token: 'token' }],
  [/^GET \/v1\/me/, { client: { id: 1001, name: 'Andes Retail' }, campaigns: [{ id: 10, name: 'Onboarding' }] }],
  [/^POST .*\/retry/, { recipients: 2 }],
  [/^GET .*state=pending/, { ...report, data: [{ index: 0, state: 'pending', code: '131048' }] }],
  [/^(GET|DELETE) \/v1\/template\/messages\//, report],
  [/^GET \/v1\/spend/, { from: '2026-11-01', data: [], total: { messages: 0, billed: 0, amount: 0, currency: 'USD' } }],
  [/^(GET|DELETE) \/v1\//, { data: [], paging: { cursors: {} }, cancelled: 1, more: false }],
];

/** Answers in place of the service. Requests other than GET wait until the test releases them, as on a slow line. */
async function serviceIn(page: Page) {
  const tried: Tried[] = [];
  const strange: (readonly [RegExp, object])[] = [];
  let isTooMany = false;
  let waiting: (() => void)[] = [];
  const meet = (request: HTTPRequest): void => {
    if (new URL(request.url()).pathname !== '/_control/service/try') return void request.continue();
    const asked = JSON.parse(request.postData() ?? '{}') as Tried;
    const line = `${asked.method} ${asked.path}`;
    tried.push(asked);
    const [, answer = {}] = [...strange, ...answers].find(([pattern]) => pattern.test(line)) ?? [];
    const isRefused = isTooMany && asked.method === 'DELETE';
    const told = isRefused
      ? { status: 429, headers: { 'retry-after': '1' }, body: JSON.stringify({ code: 'too_many_requests' }) }
      : { status: 200, headers: {}, body: JSON.stringify(answer) };
    const body = JSON.stringify({ ...told, duration_ms: 1 });
    const respond = () => void request.respond({ status: 200, contentType: 'application/json', body });
    if (asked.method === 'GET' || line === 'POST /login' || asked.headers['dry-run'] === 'true') respond();
    else waiting.push(respond);
  };
  await page.setRequestInterception(true);
  page.on('request', meet);
  return {
    refuseChanges: () => {
      isTooMany = true;
    },
    misanswer: (path: string, answer: object) => strange.push([new RegExp(`^GET ${path}`), answer]),
    linesOf: (method: string) => tried.filter((each) => each.method === method).map(({ path }) => path),
    tried,
    letGo: async () => {
      await vi.waitFor(() => expect(waiting).not.toEqual([]), { timeout: longest });
      for (const respond of waiting) respond();
      waiting = [];
    },
  };
}

describe.skipIf(browser === undefined)('an impatient hand', () => {
  const { simulator, tab } = consoleOfFile(browser);

  const open = async (address: string) => {
    const { page } = tab();
    await simulator().control('POST', 'service', { url: 'http://127.0.0.1:9' });
    const service = await serviceIn(page);
    await page.goto('about:blank');
    await page.goto(`${simulator().url}/#/dispatches/${address}`);
    return { page, ...service };
  };
  const named = (page: Page, name: string) => page.waitForSelector(`aria/${name}[role="button"]`, { timeout: longest });
  const twice = async (page: Page, name: string) => (await named(page, name))?.click({ count: 2 });

  test('a double click cancels nothing, and a double click on what is sure cancels once', async () => {
    const { page, linesOf, letGo } = await open(encodeURIComponent(`${did}/${dispatchId}`));
    await twice(page, 'Cancel all of Onboarding');
    await named(page, 'Yes, cancel every open dispatch of Onboarding');
    await twice(page, 'Cancel the dispatch');
    await twice(page, 'Yes, cancel what has not left');
    await letGo();
    await untilSeen(page, 'Cancelled: nothing more leaves');
    expect(linesOf('DELETE')).toEqual([`/v1/template/messages/${did}/${dispatchId}`]);
  });

  test('a double click sends a retry once', async () => {
    const { page, tried, letGo } = await open(encodeURIComponent(`${did}/${dispatchId}`));
    await press(page, 'Rehearse the retry');
    await twice(page, 'Send to 2 recipients');
    await letGo();
    await untilSeen(page, 'Sent once more');
    const sent = tried.filter(({ path, headers }) => path.endsWith('/retry') && headers['dry-run'] === undefined);
    expect(sent).toHaveLength(1);
  });

  test('a request of one user that had to wait is never sent as another user', async () => {
    const { page, tried, refuseChanges, letGo } = await open(encodeURIComponent(`${did}/${dispatchId}`));
    refuseChanges();
    await press(page, 'Cancel the dispatch');
    await press(page, 'Yes, cancel what has not left');
    await letGo();
    await untilSeen(page, 'too many requests, waiting a moment');
    const users = await page.$$eval('.asking select option', (found) =>
      found.map((each) => each.getAttribute('value')),
    );
    const first = await page.$eval('.asking select', (select) => (select as unknown as { value: string }).value);
    const other = users.find((user) => user !== first) ?? '';
    const asks = () => tried.filter(({ path }) => path.startsWith('/v1/me')).length;
    const before = asks();
    await page.select('.asking select', other);
    await vi.waitFor(() => expect(asks()).toBeGreaterThan(before), { timeout: longest });
    await page.waitForFunction(`!document.body.innerText.includes('too many requests')`, { timeout: longest });
    expect(tried.filter(({ method }) => method === 'DELETE')).toHaveLength(1);
  });

  test('what holds a dispatch is removed by its button, and no fault beside it', async () => {
    for (const code of [131048, 131026]) {
      await simulator().control('POST', 'faults', { match: { to: '5491150000001' }, action: { code } });
    }
    const { page } = await open(encodeURIComponent(`${did}/${dispatchId}`));
    await press(page, 'Remove the faults');
    await page.waitForFunction(`!document.querySelector('.hold')?.innerText.includes('Remove the faults')`, {
      timeout: longest,
    });
    const { faults } = (await simulator().control('GET', 'overview')).body;
    expect(faults.map(({ action }: { readonly action: object }) => action)).toEqual([{ code: 131026 }]);
  });

  test('a double click resets nothing', async () => {
    const { page } = tab();
    await simulator().send('5491150000001');
    await page.goto(`${simulator().url}/#/faults`);
    await twice(page, 'Reset the simulator');
    await press(page, 'Cancel');
    await named(page, 'Reset the simulator');
    expect((await simulator().control('GET', 'messages')).body.total).toBe(1);
  });

  test.each(['..', '..%2F..', '..%2Ftemplates', '.%2F.', '%2F', 'constructor', `${did}%2F..`])(
    'the address %s asks the service for no path but that of a report',
    async (address) => {
      const { page, linesOf } = await open(address);
      await page.waitForSelector('main .failed', { timeout: longest });
      const asked = linesOf('GET').filter((path) => path.includes('/template/'));
      expect(asked.map((path) => new URL(path, 'http://service').pathname.split('/').length)).toEqual(
        asked.map(() => 6),
      );
    },
  );

  test('an unexpected answer is shown in its page, the other pages work on, and an unknown page says so', async () => {
    const { page, misanswer } = await open('spend');
    misanswer('/v1/spend', {});
    await page.goto('about:blank');
    await page.goto(`${simulator().url}/#/dispatches/spend`);
    await untilSeen(page, 'The page could not be drawn');
    await press(page, 'Inbox', 'link');
    await untilSeen(page, 'No messages yet');
    await page.goto(`${simulator().url}/#/constructor`);
    await untilSeen(page, 'The console has no page “constructor”');
    expect(await page.title()).toBe('No such page · Messaging console');
    expect(await page.$$eval('nav a[aria-current]', (found) => found.length)).toBe(0);
  });
});

import { createServer, type IncomingMessage } from 'node:http';
import type { Page } from 'puppeteer-core';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type Document, operationsOf } from '../console/openapi.ts';
import { closeAtOnce, openOnLoopback } from '../src/loopback.ts';
import { browserOfFile, consoleOfFile, press, typeOver, untilSeen, violationsOf } from './support/console-page.ts';
import known from './support/service.json' with { type: 'json' };

/*
 * The console's reference runs in a real browser: every route and event has a description, is found by search and can
 * be tried.
 */

const browser = await browserOfFile();

const example = (value: unknown) => ({ examples: { one: { value } } });
const littleDocument = {
  info: { title: 'Service', version: '1' },
  paths: {
    '/v1/templates/{id}': {
      get: {
        operationId: 'templates-list',
        tags: ['Templates'],
        summary: 'List templates',
        security: [{ token: [] }],
        parameters: [
          { name: 'id', in: 'path', required: true, ...example(1) },
          { name: 'size', in: 'query', ...example(3) },
          { name: 'active', in: 'query', schema: { type: 'boolean' } },
          { name: 'search', in: 'query' },
        ],
        responses: { 200: { $ref: '#/components/responses/found' } },
      },
    },
  },
  components: {
    responses: { found: { description: 'Found.', content: { 'application/json': { schema: { type: 'object' } } } } },
  },
};

async function describedBy(page: Page, document: object): Promise<void> {
  await page.setRequestInterception(true);
  page.on('request', (request) => {
    const isDocument = request.url().endsWith('/console/openapi.json');
    void (isDocument ? request.respond({ body: JSON.stringify(document) }) : request.continue());
  });
}

describe.skipIf(browser === undefined)('the reference', () => {
  const { simulator, tab, textOf } = consoleOfFile(browser);
  const asked: string[] = [];
  let answered: { readonly status: number; readonly body: string } = { status: 200, body: '{"total":3}' };
  const keys: unknown[] = [];
  const service = () =>
    createServer((incoming: IncomingMessage, outgoing) => {
      asked.push(`${incoming.method} ${incoming.url} ${incoming.headers.authorization ?? 'no token'}`);
      const isLogin = incoming.url === '/login';
      if (incoming.method === 'POST' && !isLogin) {
        keys.push(incoming.headers['idempotency-key']);
        outgoing.setHeader('dispatch-id', '01KAH00000000000000000000A');
      }
      outgoing.setHeader('x-request-id', 'request-7');
      outgoing.statusCode = isLogin ? 200 : answered.status;
      outgoing.end(isLogin ? '{"access_token":"token-of-1001"}' : answered.body);
    });
  let running = service();
  beforeEach(async () => {
    asked.length = 0;
    answered = { status: 200, body: '{"total":3}' };
    running = service();
    const port = await openOnLoopback(running, 0);
    await simulator().control('POST', 'service', { url: `http://127.0.0.1:${port}` });
  });
  afterEach(() => closeAtOnce(running));

  const open = async (id = '') => {
    const { page } = tab();
    await page.goto(`${simulator().url}/#/reference/${id}`);
    await page.waitForSelector('.exchange');
    return page;
  };
  const listed = async (query: string) => {
    const { page } = tab();
    await typeOver(page, 'input[type=search]', query);
    return page.$$eval('.routes a', (links) =>
      links.map((link) => (link as unknown as { hash: string }).hash.replace(/\?q=.*/, '')),
    );
  };

  test('a route of the service is tried as a demo user, by two clicks', async () => {
    const { page } = tab();
    await describedBy(page, littleDocument);
    await press(page, 'Reference', 'link');
    await page.waitForSelector('.routes a');
    await page.click('.routes a');
    await page.waitForSelector('.parameter');
    await press(page, 'supervisor1001');
    await untilSeen(page, 'You ask as supervisor1001');
    await press(page, 'Try it');
    await untilSeen(page, '"total": 3');
    expect(asked).toEqual(['POST /login no token', 'GET /v1/templates/1?size=3 Bearer token-of-1001']);
    expect(await textOf('.answer-shown')).toMatch(/200 \d+ ms · 11 bytes · as supervisor1001/);
    await page.click('.answer-shown summary');
    expect(await textOf('.answer-shown')).toContain('request-7');
    expect(await violationsOf(page)).toEqual([]);
  });

  test('a trial stays on the page: its values, its answer, and its user', async () => {
    const { page } = tab();
    await describedBy(page, littleDocument);
    await open('templates-list');
    await press(page, 'Try it');
    await untilSeen(page, '"total": 3');
    answered = { status: 404, body: '' };
    await typeOver(page, 'aria/id[role="textbox"]', 'a/b?');
    await page.click('.more summary');
    await page.select('aria/active[role="combobox"]', 'false');
    await press(page, 'Try it');
    await untilSeen(page, 'No body.');
    expect(asked).toEqual([
      'GET /v1/templates/1?size=3 no token',
      'GET /v1/templates/a%2Fb%3F?size=3&active=false no token',
    ]);
    expect(await textOf('.earlier')).toMatch(/404\s.*without a user\s+200\s.*without a user/s);
    expect(await violationsOf(page)).toEqual([]);
    await page.click('.earlier button:last-child');
    await untilSeen(page, '"total": 3');
    await press(page, 'Try it');
    await expect.poll(() => asked[2]).toBe('GET /v1/templates/1?size=3 no token');
  });

  test('a send has a fresh Idempotency-Key at every try, the same one to show a repetition, or none', async () => {
    const page = await open('messages-send');
    const tries = async (count: number) => {
      await press(page, 'Try it');
      await expect.poll(() => keys.length).toBe(count);
      await page.waitForSelector('button[type=submit]:not(:disabled)');
    };
    keys.length = 0;
    await tries(1);
    await tries(2);
    await page.click('.tick input');
    await tries(3);
    await tries(4);
    await typeOver(page, 'aria/Idempotency-Key[role="textbox"]', '');
    await page.click('.tick input');
    await tries(5);
    const [first, second, third, fourth, fifth] = keys;
    expect(first).toMatch(/^try-[0-9a-f-]{36}$/);
    expect(second).not.toBe(first);
    expect([third, fourth, fifth]).toEqual([expect.not.stringMatching(String(second)), third, undefined]);
  });

  test('what was tried leads to its dispatch, and to its messages on the phone', async () => {
    const page = await open('messages-send');
    await press(page, 'Try it');
    await untilSeen(page, 'Dispatch 01KAH00000000000000000000A');
    const led = () =>
      page.$$eval('.answer-shown .links a', (links) => links.map((link) => (link as unknown as { hash: string }).hash));
    expect(await led()).toEqual([
      '#/dispatches/5491100000001%2F01KAH00000000000000000000A',
      '#/inbox?q=01KAH00000000000000000000A',
    ]);
    const entry = { did: '5491100000002', dispatch_id: '01KAH00000000000000000000B' };
    answered = { status: 200, body: JSON.stringify({ data: [entry, entry] }) };
    await open('dispatches-list');
    await press(page, 'Try it');
    await untilSeen(page, 'Dispatch 01KAH00000000000000000000B');
    expect(await led()).toEqual([
      '#/dispatches/5491100000002%2F01KAH00000000000000000000B',
      '#/inbox?q=01KAH00000000000000000000B',
    ]);
    expect(await violationsOf(page)).toEqual([]);
  });

  test('the request as a program: of what stands in the form, copied', async () => {
    const { page } = tab();
    await open('messages-send');
    // The clipboard belongs to the machine, and a headless browser has none.
    await page.evaluate('navigator.clipboard.writeText = async (text) => { window.copied = text; }');
    await typeOver(page, 'aria/did[role="textbox"]', "it's");
    for (const [language, text] of [
      ['curl', "curl -X POST 'http"],
      ['JavaScript', 'await fetch("http'],
      ['Python', 'urllib.request.Request('],
    ] as const) {
      await press(page, language);
      await untilSeen(page, text);
      await press(page, 'Copy sample');
      await untilSeen(page, 'Copied');
      const copied = await page.evaluate('window.copied');
      expect(copied).toContain(text);
      expect(copied).toContain('/v1/template/messages/it');
      expect(copied).toContain('5491155550001');
      await page.waitForFunction(`!document.body.innerText.includes('Copied')`);
    }
  });

  test('found by what it does, by a field inside its body, and by a code that it answers', async () => {
    const page = await open();
    expect(await listed('send a template')).toEqual(['#/reference/messages-send']);
    expect(await listed('thumbnailProductRetailerId')).toEqual(['#/reference/messages-send']);
    expect(await listed('IDEMPOTENCY_KEY_REUSED')).toEqual(['#/reference/messages-send', '#/reference/messages-retry']);
    expect(await page.evaluate('location.hash')).toBe('#/reference?q=IDEMPOTENCY_KEY_REUSED');
    expect(await listed('event refused')).toEqual([]);
    expect(await textOf('.pane-list')).toContain('No route and no event is like that');
    expect(await listed('message.failed')).toEqual(['#/reference/message.failed']);
    expect(await textOf('.count')).toBe('0 routes, 1 event');
  });

  test('fields inside fields are opened by the keyboard; codes have cause and remedy', async () => {
    const page = await open('messages-send');
    expect(await textOf('.reference')).not.toContain('product_retailer_id');
    for (const name of ['params', 'products', 'action', 'sections', 'product_items']) {
      await (await page.waitForSelector(`xpath/.//summary[normalize-space()="Fields of ${name}"]`))?.focus();
      await page.keyboard.press('Enter');
    }
    await untilSeen(page, 'product_retailer_id');
    await (await page.waitForSelector('xpath/.//summary[contains(., "template_not_found")]'))?.focus();
    await page.keyboard.press('Space');
    await untilSeen(page, 'There is no such template.');
  });

  test('hostile texts of a document or an answer are texts', async () => {
    const { page } = tab();
    const hostile = '<img src=x onerror=alert(1)><script>alert(2)</script>"\'&lt;';
    const [route] = Object.values(littleDocument.paths['/v1/templates/{id}']);
    const properties = { [hostile]: { description: hostile, type: hostile, enum: [hostile] } };
    const content = { 'application/json': { schema: { properties }, ...example({ [hostile]: hostile }) } };
    const get = {
      ...route,
      summary: hostile,
      description: hostile,
      tags: [hostile],
      requestBody: { content },
      parameters: [{ name: hostile, in: 'query', description: hostile, ...example(hostile) }],
      responses: { 200: { description: hostile, content, headers: { [hostile]: { description: hostile } } } },
    };
    await describedBy(page, {
      ...littleDocument,
      info: { title: hostile, version: hostile },
      paths: { '/v1/templates': { get } },
    });
    answered = { status: 200, body: hostile };
    await open('templates-list');
    await press(page, 'Try it');
    await page.waitForSelector('.answer-shown');
    expect(await textOf('.answer-shown')).toContain(hostile);
    expect((await textOf('.reference')).split(hostile).length).toBeGreaterThan(10);
    await open();
    expect(await textOf('.reference')).toContain(hostile);
    expect(await page.$$eval('main script, main img', (found) => found.length)).toBe(0);
    expect(await page.evaluate('window.dialogs')).toBe(0);
  });

  const all = operationsOf(known.document as unknown as Document).map(({ operationId }) => operationId);

  test('every route and event, 400 px wide: nothing is wider than the page, and no other server is asked', async () => {
    const { page } = tab();
    const hosts = new Set<string>();
    page.on('request', (request) => hosts.add(new URL(request.url()).origin));
    await page.setViewport({ width: 400, height: 860 });
    for (const id of all) {
      await open(id);
      await page.waitForFunction(`document.querySelector('.routes a[aria-current]').hash === '#/reference/${id}'`);
      await page.$$eval('details', (found) => {
        for (const each of found as unknown as { open: boolean }[]) each.open = true;
      });
      expect(await page.evaluate('document.documentElement.scrollWidth'), id).toBeLessThanOrEqual(400);
      expect(await page.$eval('.pane-main', ({ scrollWidth }) => scrollWidth), id).toBeLessThanOrEqual(400);
    }
    expect([...hosts]).toEqual([simulator().url]);
  });
});

import { describe, expect, test } from 'vitest';
import { photograph } from './support/browser.ts';
import { browserOfFile, consoleOfFile, paint, untilSeen, violationsOf } from './support/console-page.ts';
import { body, firstNumber, firstWaba, recipient } from './support/simulator.ts';
import { validSends } from './support/valid-sends.ts';

/* A real browser shows that the console is safe from hostile texts, and accessible at every width. */

const browser = await browserOfFile();

describe.skipIf(browser === undefined)('the console', () => {
  const { simulator, tab, textOf, sendAll } = consoleOfFile(browser);

  test('the head fits every width: nothing of it is cut or lies over its neighbour', async () => {
    const { page } = tab();
    const edges = `[...document.querySelectorAll('.brand, .top nav a, .pulse')].map((each) => each.getBoundingClientRect())
      .flatMap(({ left, right }) => [left, right])`;
    for (const width of [1_920, 1_701, 1_501, 1_440, 1_401, 1_360, 1_280, 1_200, 1_100, 1_061, 1_024, 960, 901]) {
      await page.setViewport({ width, height: 860 });
      const found = (await page.evaluate(edges)) as readonly number[];
      expect(found, `${width}`).toEqual([...found].sort((one, other) => one - other));
      expect(found.at(-1), `${width}`).toBeLessThanOrEqual(width);
    }
  });

  test('hostile texts are texts', async () => {
    const { page } = tab();
    const hostile = '<img src=x onerror=alert(1)><script>alert(2)</script>"\'&lt;';
    const components = [
      { type: 'HEADER', format: 'TEXT', text: hostile },
      { type: 'BODY', text: `*${hostile}* {{1}} ok` },
      { type: 'FOOTER', text: hostile },
      { type: 'BUTTONS', buttons: [{ type: 'URL', text: hostile, url: 'javascript://%0Aalert(3)' }] },
    ];
    const made = { name: 'hostile', language: 'en_US', category: 'UTILITY', components };
    const { body: added } = await simulator().control('POST', 'templates', { waba_id: firstWaba, templates: [made] });
    const template = {
      name: 'hostile',
      language: { code: 'en_US' },
      components: [body(`${hostile}${'W'.repeat(500)}`)],
    };
    const { status } = await simulator().send(recipient, { template, biz_opaque_callback_data: hostile });
    expect(status).toBe(200);
    await page.waitForSelector('[role=option]');
    await page.click('[role=option]');
    await page.waitForSelector('.bubble');
    const harmless = async () => {
      expect(await page.$$eval('main script, main img', (found) => found.length)).toBe(0);
      expect(await page.$$eval('main a[href^=javascript]', (found) => found.length)).toBe(0);
    };
    expect((await textOf('.chat')).split(hostile)).toHaveLength(6);
    await harmless();
    await page.setViewport({ width: 400, height: 860 });
    const isWider = `[...document.querySelectorAll('.pane-main, .bubble')].some((e) => e.scrollWidth > e.clientWidth)`;
    expect(await page.evaluate(isWider)).toBe(false);
    await page.goto(`${simulator().url}/#/templates/${added.ids[0]}`);
    await page.waitForFunction(`document.querySelector('.facts h2')?.textContent === 'hostile'`);
    expect((await textOf('.chat')).split(hostile)).toHaveLength(5);
    await harmless();
    await page.goto(`${simulator().url}/#/requests/1`);
    await page.waitForSelector('.exchange');
    await harmless();
    expect(await page.evaluate('window.dialogs')).toBe(0);
  });

  test('the policy of the page lets nothing in that was not served with it', async () => {
    const { page, problems } = tab();
    await page.evaluate(
      `document.body.append(Object.assign(document.createElement('img'), { src: 'https://example.com/x.png' }))`,
    );
    await expect.poll(() => problems.join()).toContain('Content Security Policy');
    await expect(page.evaluate(`document.body.innerHTML = '<p>'`)).rejects.toThrow('TrustedHTML');
    problems.length = 0;
  });

  const addresses = [
    'inbox',
    'inbox/chosen',
    'templates/1100000000000007',
    'templates/1100000000000015',
    'templates/1100000000000021',
    'requests/1',
    'webhooks',
    'webhooks/1',
    'faults',
    'people?show=phones',
    'people?show=told',
    'people',
    'dispatches',
    'client-templates',
    'no-such-page',
    'reference',
    'reference/messages-send',
    'reference/templates-list',
    'reference/message.failed',
  ];
  test.each([
    ['light', 1_360],
    ['dark', 1_360],
    ['light', 400],
    ['dark', 400],
  ])('every page in %s, %i px wide: axe finds nothing, and nothing is wider than the page', async (scheme, width) => {
    const { page } = tab();
    await sendAll();
    await simulator().control('POST', 'faults', { action: { code: 130429 }, times: 3 });
    await simulator().control('POST', 'recipients/15550131026', { blocked: true });
    await simulator().control('POST', 'receipts', { course: { late_ms: 600_000, copies: 2 } });
    await simulator().control('POST', `wabas/${firstWaba}/holds`, { code: 368, expires_in_seconds: 3_600 });
    await simulator().control('POST', 'businesses/400000000000002/pacing', { accepts: 0 });
    for (const to of [recipient, '15550131026']) {
      const stop = { phone_number_id: firstNumber, value: 'stop', answer: 'refused' };
      await simulator().control('POST', `recipients/${to}/preference`, stop);
    }
    await simulator().control('POST', `recipients/${recipient}/message`, {
      phone_number_id: firstNumber,
      text: 'Hola',
    });
    const told = { at: '2026-11-22T10:00:00.000Z', clientId: 1001, eventId: 'evt_1', eventType: 'template.created' };
    await simulator().control('POST', 'events', { event: 'webhook.failed', ...told, attempt: 1, code: 'status_500' });
    const { body: listed } = await simulator().control('GET', 'inbox');
    await page.setViewport({ width, height: 860 });
    await paint(page, scheme);
    for (const address of addresses) {
      const [name = '', chosen] = address.split('/');
      const id = chosen === 'chosen' ? `inbox/${encodeURIComponent(listed.data[1].id)}` : address;
      await page.goto(`${simulator().url}/#/${id}`);
      await page.waitForFunction(`!document.body.innerText.includes('Reading …')`);
      await page.waitForSelector(name === 'faults' ? '.magic' : '.page');
      const current = `document.querySelector('.routes a[aria-current]')?.hash === '#/${id}'`;
      if (id.startsWith('reference/')) await page.waitForFunction(current);
      // Folded sections are checked too.
      const folded = 'details.other, .reference details';
      await page.evaluate(`for (const each of document.querySelectorAll('${folded}')) each.open = true;`);
      expect(await violationsOf(page), address).toEqual([]);
      expect(await page.evaluate('document.documentElement.scrollWidth'), address).toBeLessThanOrEqual(width);
      await photograph(page, `${address.replaceAll('/', '-')}-${scheme}-${width}`);
    }
  });

  test.each([
    [1_360, 1],
    [400, 2],
  ])(
    'the head at %i px: two groups of pages in %i rows, none cut short, each large enough for a thumb',
    async (width, rows) => {
      const { page } = tab();
      await page.setViewport({ width, height: 860 });
      await page.waitForFunction(`document.querySelectorAll('.top .group').length === 2`);
      const entries = await page.$$eval('.top nav a', (links) =>
        links.map((link) => {
          const box = link.getBoundingClientRect();
          const label = link.querySelector('span');
          return {
            ...{ left: box.left, right: box.right, top: box.top, isLarge: box.width >= 44 && box.height >= 44 },
            isCut: label === null || label.scrollWidth > label.clientWidth + 1,
          };
        }),
      );
      expect(entries).toHaveLength(9);
      expect(new Set(entries.map(({ top }) => Math.round(top))).size).toBe(rows);
      expect(
        entries.filter(({ isCut, isLarge, left, right }) => isCut || !isLarge || left < 0 || right > width),
      ).toEqual([]);
      const head = await page.$$eval('.top > *', (parts) => parts.map((part) => part.getBoundingClientRect().right));
      expect(Math.max(...head)).toBeLessThanOrEqual(width);
      expect(await page.title()).toBe('Inbox · Messaging console');
      await photograph(page, `head-${width}`);
    },
  );

  test('the keyboard alone: from page to page, through a list, to a reply', async () => {
    const { page } = tab();
    await sendAll();
    // One of the templates can only be sent on the other edge: this edge refuses it, and lists it all the same.
    await untilSeen(page, `${Object.keys(validSends).length} messages, 1 refused`);
    await page.focus('[role=listbox]');
    await page.keyboard.press('ArrowDown');
    await page.waitForSelector('[role=option][aria-selected=true]');
    await page.keyboard.press('End');
    await page.waitForFunction(`document.querySelector('.pairs a')?.textContent === 'order_update'`);
    const active = await page.$eval('[role=listbox]', (list) => {
      const { ownerDocument, getAttribute } = list as unknown as {
        ownerDocument: { getElementById(id: string): { ariaSelected: string } | null };
        getAttribute(name: string): string;
      };
      return ownerDocument.getElementById(getAttribute.call(list, 'aria-activedescendant'))?.ariaSelected;
    });
    expect(active).toBe('true');
    await page.focus('nav a[href^="#/requests"]');
    await page.keyboard.press('Enter');
    await page.waitForFunction(`document.activeElement?.id === 'main' && document.title.startsWith('Requests')`);
  });
});

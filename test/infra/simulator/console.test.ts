import { describe, expect, test } from 'vitest';
import { photograph } from '../../support/browser.ts';
import { browserOfFile, consoleOfFile, press, untilSeen } from '../../support/console-page.ts';
import { firstWaba, recipient } from '../../support/simulator.ts';
import { validSends } from './valid-sends.ts';

/*
 * The console in a real browser: what it shows and does.
 */

const browser = await browserOfFile();

describe.skipIf(browser === undefined)('the console', () => {
  const { simulator, tab, textOf, sendAll } = consoleOfFile(browser);

  test('a message arrives while the page is open, and is shown as on the phone', async () => {
    const { page } = tab();
    await untilSeen(page, 'No messages yet');
    await simulator().send(recipient, { biz_opaque_callback_data: '01KAPQ5Z3M9T7V1XW2YB4C6D8E-7' });
    await untilSeen(page, '1 message');
    await page.click('[role=option]');
    await untilSeen(page, 'Track order');
    expect(await textOf('.chat')).toContain('Hello Ana, your order A-1042 is on its way.');
    expect(await page.$eval('.chat a', (link) => (link as { href: string }).href)).toBe(
      'https://andes.example.com/orders/A-1042',
    );
    expect(await textOf('.facts')).toContain('01KAPQ5Z3M9T7V1XW2YB4C6D8E\n');
  });

  test('every kind of message', async () => {
    const { page } = tab();
    await sendAll();
    const shown: Readonly<Record<string, readonly string[]>> = {
      welcome_offer: ['Image', 'https://andes.example.com/welcome.jpg', 'Lo quiero'],
      login_code: ['482913 is your verification code', 'Copy code'],
      store_visit: ['Store', 'Av. Corrientes 1 · -34.6, -58.4'],
      spring_picks: ['Picked for Ana this spring', 'View items', 'Shoes: SKU-1, SKU-2'],
      single_pick: ['SKU-1', 'catalog 600000000000001'],
      city_tour: ['The harbour by boat, from $20 a person.', 'More like this', 'Book'],
      coupon_drop: ['Copy offer code', 'SAVE25'],
      named_params: ['Hello Ana, order A-1042 is confirmed.'],
    };
    for (const [name, texts] of Object.entries(shown)) {
      await page.locator('input[type=search]').fill(name);
      await page.waitForFunction(`document.querySelectorAll('[role=option]').length === 1`);
      await page.click('[role=option]');
      await page.waitForFunction(`document.querySelector('.pairs a')?.textContent === '${name}'`);
      const chat = await textOf('.chat');
      expect(
        texts.filter((text) => !chat.includes(text)),
        name,
      ).toEqual([]);
      await photograph(page, `inbox-${name}`);
    }
  });

  test('each attempt of the service to tell a client an event, while the page is open', async () => {
    const { page } = tab();
    await page.goto(`${simulator().url}/#/webhooks`);
    await untilSeen(page, 'Nothing was told yet');
    const told = { at: '2026-11-22T10:00:00.000Z', clientId: 1001, eventId: 'evt_1', eventType: 'template.created' };
    const failed = { event: 'webhook.failed', ...told, attempt: 1, code: 'status_500', durationMs: 12 };
    expect((await simulator().control('POST', 'events', failed)).status).toBe(200);
    await untilSeen(page, 'failed · status_500');
    await simulator().control('POST', 'events', { event: 'webhook.delivered', ...told, attempt: 2, durationMs: 9 });
    await untilSeen(page, '2 attempts');
    expect(await textOf('[role=option]')).toMatch(/template\.created evt_1\s+delivered\s+.*client 1001 · attempt 2/s);
    await page.locator('input[type=search]').fill('status_500');
    await untilSeen(page, '1 attempt');
    expect((await simulator().control('POST', 'events', { ...failed, event: 'webhook.cheered' })).status).toBe(400);
  });

  test('the recipient replies, reads and blocks; the platform fails it later', async () => {
    const { page } = tab();
    const template = {
      name: 'welcome_offer',
      language: { code: 'es' },
      components: validSends.welcome_offer.components,
    };
    await simulator().send(recipient, { template });
    await page.waitForSelector('[role=option]');
    await page.click('[role=option]');
    await press(page, 'Lo quiero');
    await page.waitForSelector('.bubble.mine');
    await page.locator('aria/Reply[role="textbox"]').fill('¿Hasta cuándo?');
    await press(page, 'Reply');
    await untilSeen(page, '¿Hasta cuándo?');
    await press(page, 'Read now');
    await untilSeen(page, 'Read');
    await press(page, 'Block the business');
    await untilSeen(page, 'This recipient has blocked the business');
    await press(page, 'Fail later');
    await untilSeen(page, 'Failed 131026');
    const { body: one } = await simulator().control('GET', 'inbox');
    expect(one.data[0]).toMatchObject({ replies: 2 });
    expect((await simulator().control('GET', 'overview')).body.blocked).toEqual([recipient]);
    await photograph(page, 'inbox-actions');
  });

  test('a template is looked at, rejected, approved and paused; its quality falls', async () => {
    const { page } = tab();
    await press(page, 'Templates', 'link');
    await page.locator('input[type=search]').fill('summer_sale');
    await page.waitForFunction(`document.querySelectorAll('[role=option]').length === 1`);
    await page.click('[role=option]');
    await untilSeen(page, 'Hola Ana, la liquidación de verano empieza el lunes en todas las tiendas.');
    const state = async () => {
      const { body: found } = await simulator().control('GET', 'templates/1100000000000011');
      return [found.status, found.rejected_reason, found.quality];
    };
    await press(page, 'Reject');
    await untilSeen(page, 'Rejected');
    await expect.poll(state).toEqual(['REJECTED', 'PROMOTIONAL', 'UNKNOWN']);
    await press(page, 'Approve');
    await expect.poll(state).toEqual(['APPROVED', 'NONE', 'UNKNOWN']);
    await press(page, 'Yellow');
    await expect.poll(state).toEqual(['APPROVED', 'NONE', 'YELLOW']);
    await press(page, 'Pause');
    await expect.poll(state).toEqual(['PAUSED', 'NONE', 'YELLOW']);
    await press(page, 'Disable');
    await expect.poll(state).toEqual(['DISABLED', 'NONE', 'YELLOW']);
  });

  test('what was asked and answered, filtered', async () => {
    const { page } = tab();
    await simulator().get(`${firstWaba}/message_templates`, { limit: '1' });
    await simulator().post('nothing/messages', { to: "it's" });
    await press(page, 'Requests', 'link');
    await untilSeen(page, '2 requests');
    await page.locator('input[type=search]').fill('post nothing');
    await untilSeen(page, '1 request');
    await page.click('[role=option]');
    await untilSeen(page, 'Unsupported post request');
    expect(await textOf('.exchange')).toContain("it's");
    await press(page, 'Copy as curl');
  });

  test('time passes, faults come and go, and any control call can be made', async () => {
    const { page, problems } = tab();
    await press(page, 'Faults and clock', 'link');
    await untilSeen(page, 'The platform behaves.');
    await press(page, '+1 hour');
    await untilSeen(page, '3,600 seconds ahead of real time.');
    await page.locator('aria/Code[role="textbox"]').fill('130429');
    await press(page, 'Misbehave');
    await untilSeen(page, 'code 130429');
    expect((await simulator().send(recipient)).body.error.code).toBe(130429);
    await press(page, 'Behave again');
    await untilSeen(page, 'The platform behaves.');
    await page.locator('aria/HTTP status[role="textbox"]').fill('many');
    await press(page, 'Misbehave');
    await untilSeen(page, 'action.status: ');
    // The browser itself tells of every refusal.
    expect(problems.splice(0)).toEqual([expect.stringContaining('status of 400')]);
    await page.select('aria/Call[role="combobox"]', 'GET /_control/catalogs');
    await press(page, 'Send');
    await untilSeen(page, 'Andes spring catalog');
  });
});

import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Page } from '#simulator/test/browser';
import { photograph } from '#simulator/test/browser';
import {
  browserOfFile,
  openConsole,
  paint,
  press,
  typeOver,
  untilSeen,
  violationsOf,
} from '#simulator/test/console-page';
import { addressOf } from '../support/addresses.ts';
import { api, platform, tokenOf } from '../support/api.ts';
import { clients } from '../support/demo.ts';
import { recordOn } from '../support/recorded-words.ts';
import { runningTarget } from '../support/running-target.ts';

/* The console's page of opt-outs runs in a real browser beside the whole stack (D55). */

const browser = await browserOfFile();
const person = '5492261550001';
const other = '5492261550002';
const stopped = '549226155000345';

describe.skipIf(browser === undefined)('the page People', () => {
  let page: Page;
  let problems: string[];
  const field = 'aria/Number or user id of a person[role="textbox"]';

  beforeAll(() => platform('POST /_control/service', { url: addressOf('apiUrl') }));
  beforeEach(async () => {
    if (browser === undefined) return;
    ({ page, problems } = await openConsole(browser, `${addressOf('platformUrl')}/#/people`));
  });
  afterEach(async () => {
    await page.close();
    expect(problems).toEqual([]);
  });
  afterAll(async () => {
    await browser?.close();
    await platform('POST /_control/service', { url: null });
  });

  test('the client stops a person, takes it back, and stops once more', async () => {
    await typeOver(page, field, '+54 9 226 155-0001');
    await press(page, 'Stop marketing');
    await untilSeen(page, 'The client has said so itself', '.pane-main');
    await untilSeen(page, `+${person}`, '.pane-list');
    await photograph(page, 'people-stopped-light-1360');
    await press(page, 'Take back the stop');
    await untilSeen(page, 'The client may send marketing to this person.', '.pane-main');
    await page.select('aria/State[role="combobox"]', 'started');
    await typeOver(page, 'input[type=search]', person);
    await untilSeen(page, '1 person', '.pane-list');
    await page.select('aria/State[role="combobox"]', 'stopped');
    await untilSeen(page, 'No person is like that', '.pane-list');
    expect(await violationsOf(page)).toEqual([]);
  });

  test('a person who stopped on the phone too: each row has room for what it says', async () => {
    await recordOn(runningTarget(), {
      scope: { kind: 'number', phoneNumberId: '300000000000001', wabaId: '200000000000001' },
      recipients: [stopped],
      word: { says: 'stopped', source: 'platform', atMs: Date.now() },
      listedFor: clients.andes,
    });
    for (const width of [1_360, 400]) {
      await page.setViewport({ width, height: 860 });
      await page.reload();
      await untilSeen(page, `+${stopped}`, '.pane-list');
      const tooTall = `[...document.querySelectorAll('[role=option]')].filter((each) => each.scrollHeight > each.clientHeight).length`;
      expect(await page.evaluate(tooTall), `${width}`).toBe(0);
      const cut = `[...document.querySelectorAll('[role=option] strong')].filter((each) => each.scrollWidth > each.clientWidth).map((each) => each.innerText)`;
      expect(await page.evaluate(cut), `${width}`).toEqual([]);
    }
  });

  test('the page offers no start after a stop by the person; an invalid number says what was expected', async () => {
    // The list has people that this client has stopped, or that told this client.
    await api(`PUT /v1/opt-outs/${other}`, { token: await tokenOf('supervisor1001') });
    await recordOn(runningTarget(), {
      scope: { kind: 'client', clientId: clients.andes },
      recipients: [other],
      word: { says: 'stopped', source: 'reply', atMs: Date.now() },
    });
    await page.goto(`${addressOf('platformUrl')}/#/people/${other}`);
    await page.reload();
    await untilSeen(page, 'the client cannot take it back', '.pane-main');
    await untilSeen(page, 'Marketing from every number', '.pane-main');
    const buttons = await page.$$eval('.words button', (found) => found.length);
    expect(buttons).toBe(0);
    await page.setViewport({ width: 400, height: 860 });
    await paint(page, 'dark');
    await photograph(page, 'people-of-the-person-dark-400');
    await page.goto(`${addressOf('platformUrl')}/#/people`);
    await typeOver(page, field, '12');
    await press(page, 'Stop marketing');
    await untilSeen(page, 'recipient must be 8 to 15 digits', '.pane-list');
    await photograph(page, 'people-refused-dark-400');
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(400);
    expect(await violationsOf(page)).toEqual([]);
  });
});

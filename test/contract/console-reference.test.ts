import { afterAll, expect, test } from 'vitest';
import { type Document, operationsOf, refusalsOf } from '#simulator/contract';
import { browserOfFile, openConsole } from '#simulator/test/console-page';
import openapi from '../../functions/openapi.json' with { type: 'json' };
import { addressOf } from '../support/addresses.ts';

/*
 * The console's page Reference shows the document of the interface, in a real browser, beside the stack that told it.
 */

const document = openapi as unknown as Document;
const all = operationsOf(document);
const browser = await browserOfFile();
afterAll(() => browser?.close());

test('the console reads every route and event, and every code of a refusal with its remedy', () => {
  const { paths, webhooks = {} } = document;
  const told = [...Object.values(paths), ...Object.values(webhooks)].flatMap((item) => Object.keys(item));
  expect(new Set(all.map(({ operationId }) => operationId)).size).toBe(told.length);
  for (const answer of Object.values(openapi.components.responses)) {
    const codes = refusalsOf(document).filter(({ code }) => answer.description.includes(`${code}: `));
    expect(refusalsOf(document, answer as object), answer.description).toEqual(codes);
  }
  expect(refusalsOf(document).every(({ remedy }) => remedy !== '')).toBe(true);
});

test.skipIf(browser === undefined)(
  'each one, all of it open, 400 px wide: nothing is wider than the page',
  async () => {
    if (browser === undefined) return;
    const { page, problems } = await openConsole(browser, addressOf('platformUrl'));
    await page.setViewport({ width: 400, height: 860 });
    for (const { operationId: id } of all) {
      await page.goto(`${addressOf('platformUrl')}/#/reference/${id}`);
      await page.waitForSelector('.exchange');
      await page.waitForFunction(`document.querySelector('.routes a[aria-current]').hash === '#/reference/${id}'`);
      await page.$$eval('details', (found) => {
        for (const each of found as unknown as { open: boolean }[]) each.open = true;
      });
      expect(await page.evaluate('document.documentElement.scrollWidth'), id).toBeLessThanOrEqual(400);
      expect(await page.$eval('.pane-main', ({ scrollWidth }) => scrollWidth), id).toBeLessThanOrEqual(400);
    }
    expect(problems).toEqual([]);
  },
);

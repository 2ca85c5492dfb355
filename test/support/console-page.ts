import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Browser, Page } from 'puppeteer-core';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** The console in a tab of its own, and everything that went wrong there. */
export async function openConsole(browser: Browser, url: string) {
  const page = await browser.newPage();
  const problems: string[] = [];
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warn') problems.push(message.text());
  });
  page.on('pageerror', (error) => problems.push(String(error)));
  // What the policy of the page forbids is told nowhere else.
  await page.evaluateOnNewDocument(`
    window.dialogs = 0;
    window.alert = () => { window.dialogs += 1; };
  `);
  await page.setViewport({ width: 1360, height: 860 });
  await page.goto(url, { waitUntil: 'load' });
  await page.waitForSelector('main');
  return { page, problems };
}

/** Waits until the text stands somewhere on the page, and can be seen. */
export async function untilSeen(page: Page, text: string): Promise<void> {
  await page.waitForFunction(`document.body.innerText.includes(${JSON.stringify(text)})`, { timeout: 10_000 });
}

/** Presses what has that accessible name, as soon as it can be pressed. */
export async function press(page: Page, name: string, role = 'button'): Promise<void> {
  const found = await page.waitForSelector(`aria/${name}[role="${role}"]`, { timeout: 10_000 });
  await page.waitForFunction((element) => !(element as unknown as { disabled?: boolean }).disabled, {}, found);
  await found?.click();
}

/** What axe finds against the rules for accessible pages (WCAG 2.2 A and AA): the rule and the first place of each. */
export async function violationsOf(page: Page): Promise<readonly string[]> {
  // Evaluated by the debugger, as no script may be put into the page.
  await page.evaluate(`${axe};0`);
  const found = await page.evaluate(`
    axe.run(document, { runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'] })
      .then(({ violations }) => violations.map(({ id, nodes }) => id + ': ' + nodes[0].html + ' ' + nodes[0].failureSummary))
  `);
  return found as readonly string[];
}

import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Browser, Page } from 'puppeteer-core';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { startBrowser } from './browser.ts';
import { recipient, type SimulatorAtRest, simulatorAtRest } from './simulator.ts';
import { validSends } from './valid-sends.ts';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/**
 * Starts the browser of a test file. On a machine without one the file is skipped with the reason; with `CI=true` it
 * fails.
 */
export async function browserOfFile(): Promise<Browser | undefined> {
  const started = await startBrowser();
  if (typeof started !== 'string') return started;
  console.warn(`The tests of the console are left out: ${started}`);
  const isRequired = process.env['CI'] === 'true';
  test.skipIf(!isRequired)('a browser runs', () => expect(started).toBe('a browser'));
  return undefined;
}

/** Starts a new simulator and a tab with its console for every test; the test fails when the page had an error. */
export function consoleOfFile(browser: Browser | undefined) {
  let simulator: SimulatorAtRest | undefined;
  let tab: Awaited<ReturnType<typeof openConsole>> | undefined;
  const running = () => started(simulator);
  beforeAll(async () => {
    simulator = await simulatorAtRest();
  });
  beforeEach(async () => {
    await running().control('POST', 'reset');
    tab = await openConsole(started(browser), running().url);
  });
  afterEach(async () => {
    await tab?.page.close();
    expect(tab?.problems).toEqual([]);
  });
  afterAll(async () => {
    await browser?.close();
    await simulator?.stop();
  });
  return {
    simulator: running,
    tab: () => started(tab),
    textOf: (selector: string) =>
      started(tab).page.$eval(selector, (element) => (element as unknown as { innerText: string }).innerText),
    /** Sends a message of every template that can be sent. */
    sendAll: async () => {
      for (const [name, { language, components }] of Object.entries(validSends)) {
        const template = { name, language: { code: language }, components };
        await running().send(recipient, { template, biz_opaque_callback_data: '01KAPQ5Z3M9T7V1XW2YB4C6D8E-7' });
      }
    },
  };
}

function started<T>(thing: T | undefined): T {
  if (thing === undefined) throw new Error('it has not been started');
  return thing;
}

/** Opens the console in a tab of its own, with all errors of the page. */
export async function openConsole(browser: Browser, url: string) {
  const page = await browser.newPage();
  const problems: string[] = [];
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warn') problems.push(message.text());
  });
  page.on('pageerror', (error) => problems.push(String(error)));
  // Only this event reports what the page's content security policy blocks.
  await page.evaluateOnNewDocument(`
    window.dialogs = 0;
    window.alert = () => { window.dialogs += 1; };
  `);
  await page.setViewport({ width: 1360, height: 860 });
  await page.goto(url, { waitUntil: 'load' });
  await page.waitForSelector('main');
  return { page, problems };
}

/** The wait is long enough for a busy machine; what takes longer fails. */
const longestWaitMs = 50_000;

/**
 * Waits until the text is visible on the page. The page's header counts messages before they are listed, so it is left
 * out.
 */
export async function untilSeen(page: Page, text: string, where = 'main'): Promise<void> {
  const seen = `document.querySelector('${where}')?.innerText.includes(${JSON.stringify(text)})`;
  await page.waitForFunction(seen, { timeout: longestWaitMs });
}

/**
 * Replaces the text of a field as a person does. `locator.fill` clears the field without an event: a page that renders
 * at that moment restores the old text, and the new text follows it.
 */
export async function typeOver(page: Page, field: string, text: string): Promise<void> {
  const found = await page.waitForSelector(field, { timeout: longestWaitMs });
  await found?.evaluate((element) => (element as unknown as { select(): void }).select());
  await found?.focus();
  if (text === '') await page.keyboard.press('Delete');
  else await page.keyboard.type(text);
}

/**
 * Presses the element with this accessible name as soon as it is enabled. It uses the keyboard, because a live page may
 * move the element before a click reaches it.
 */
export async function press(page: Page, name: string, role = 'button'): Promise<void> {
  const found = await page.waitForSelector(`aria/${name}[role="${role}"]`, { timeout: longestWaitMs });
  const canBePressed = (element: unknown) => !(element as { disabled?: boolean }).disabled;
  await page.waitForFunction(canBePressed, { timeout: longestWaitMs }, found);
  await found?.focus();
  await page.keyboard.press('Enter');
}

/** Returns Axe's findings against the accessibility rules (WCAG 2.2 A and AA): the rule and the first place of each. */
export async function violationsOf(page: Page): Promise<readonly string[]> {
  // The debugger evaluates this, because the page allows no inserted scripts.
  await page.evaluate(`${axe};0`);
  const found = await page.evaluate(`
    axe.run(document, { runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'] })
      .then(({ violations }) => violations.map(({ id, nodes }) => id + ': ' + nodes[0].html + ' ' + nodes[0].failureSummary))
  `);
  return found as readonly string[];
}

/**
 * Switches the page to `light` or `dark` at once: in the middle of a transition, axe would measure too little contrast.
 */
export async function paint(page: Page, scheme: string): Promise<void> {
  await page.emulateMediaFeatures([
    { name: 'prefers-color-scheme', value: scheme },
    { name: 'prefers-reduced-motion', value: 'reduce' },
  ]);
}

import type { HTTPRequest, Page } from 'puppeteer-core';
import { describe, expect, test } from 'vitest';
import { consoleBundle } from '../src/console-bundle.ts';
import { browserOfFile, consoleOfFile, press, untilSeen } from './support/console-page.ts';

/* Loading, failed and empty look different from each other; and a page loads only what it shows. */

test('what a page loads, script and style together, is under 150,000 bytes', async () => {
  const files = await consoleBundle();
  const imported = (name: string, form: RegExp) =>
    [...(files.get(name) ?? '').matchAll(form)].map(([, file = '']) => file);
  const withImports = (...names: readonly string[]): ReadonlySet<string> => {
    const known = new Set(names);
    for (const name of known) for (const each of imported(name, /(?:from|import)"\.\/([\w-]+\.js)"/g)) known.add(each);
    return known;
  };
  const pages = imported('app.js', /import\("\.\/([\w-]+\.js)"\)/g);
  expect(pages).toHaveLength(9);
  for (const page of pages) {
    const loaded = [...withImports('app.js', page), 'style.css'];
    const bytes = loaded.reduce((sum, name) => sum + Buffer.byteLength(files.get(name) ?? ''), 0);
    expect(bytes, page).toBeGreaterThan(60_000);
    expect(bytes, page).toBeLessThan(150_000);
  }
});

const browser = await browserOfFile();

/** Each list has its page, its control call and the text of its failure. */
const lists = [
  ['templates', 'templates', 'The templates could not be read'],
  ['requests', 'exchanges', 'The requests could not be read'],
  ['faults', 'overview', 'The state of the platform could not be read'],
] as const;

type Fate = 'waits' | 'fails' | 'passes';

/** Applies the fate to every request of the call, waiting ones too: a page that hears of a change asks again. */
async function interceptOf(page: Page, call: string) {
  let now: Fate = 'waits';
  let waiting: HTTPRequest[] = [];
  const meet = (request: HTTPRequest): void => {
    if (now === 'waits') waiting.push(request);
    else if (now === 'fails') void request.abort();
    else void request.continue();
  };
  await page.setRequestInterception(true);
  page.on('request', (request) => {
    if (new URL(request.url()).pathname === `/_control/${call}`) meet(request);
    else void request.continue();
  });
  return (fate: Fate) => {
    now = fate;
    const met = waiting;
    waiting = [];
    met.forEach(meet);
  };
}

/** The opening document has a loading sign too, which does not count. */
const waitingSign = 'main :not(.opening) > .waiting';

const waitingSeen = `(() => {
  const waiting = document.querySelector('${waitingSign}');
  return waiting === null ? 'none' : getComputedStyle(waiting).visibility;
})()`;

describe.skipIf(browser === undefined)('three sights', () => {
  const { simulator, tab, textOf } = consoleOfFile(browser);

  test.each(lists)('%s: nothing for 300 ms, then that it is being read; never a count', async (name, call) => {
    const { page } = tab();
    const turn = await interceptOf(page, call);
    await page.goto('about:blank');
    await page.goto(`${simulator().url}/#/${name}`);
    await page.waitForSelector(waitingSign);
    // The delay is read from the page's style, so that no clock of the machine decides.
    const delays = await page.$eval(waitingSign, (waiting) =>
      (waiting as unknown as { getAnimations(): { effect: { getTiming(): { delay: number; fill: string } } }[] })
        .getAnimations()
        .map(({ effect }) => [effect.getTiming().delay, effect.getTiming().fill]),
    );
    expect(delays).toEqual([[300, 'both']]);
    await page.$eval(waitingSign, (waiting) => {
      const { getAnimations } = waiting as unknown as { getAnimations(): { pause(): void; currentTime: number }[] };
      for (const animation of getAnimations.call(waiting)) {
        animation.pause();
        animation.currentTime = 299;
      }
    });
    expect(await page.evaluate(waitingSeen)).toBe('hidden');
    await page.$eval(waitingSign, (waiting) => {
      const { getAnimations } = waiting as unknown as { getAnimations(): { finish(): void }[] };
      for (const animation of getAnimations.call(waiting)) animation.finish();
    });
    expect(await page.evaluate(waitingSeen)).toBe('visible');
    const shown = await textOf('main');
    expect(shown).toContain('Reading …');
    expect(shown).not.toMatch(/\b0 |No .* yet|could not be read/);
    turn('passes');
    await page.waitForFunction(`document.querySelector('${waitingSign}') === null`);
  });

  test.each(lists)('%s: what failed says so and why, and is asked once more', async (name, call, title) => {
    const { page, problems } = tab();
    const turn = await interceptOf(page, call);
    await page.goto('about:blank');
    await page.goto(`${simulator().url}/#/${name}`);
    turn('fails');
    await untilSeen(page, title);
    const shown = await textOf('main');
    expect(shown).toContain('The simulator does not answer. Is it still running?');
    expect(shown).not.toMatch(/\b0 |No .* yet|Reading/);
    turn('passes');
    await press(page, 'Try again');
    await page.waitForFunction(`document.querySelector('main .failed') === null`);
    expect(problems.splice(0).filter((problem) => !problem.includes('net::ERR_FAILED'))).toEqual([]);
  });

  test('an empty list looks neither like loading nor like a failure', async () => {
    const { page } = tab();
    await page.goto(`${simulator().url}/#/requests`);
    await untilSeen(page, 'No requests yet');
    expect(await page.$$eval('main .waiting, main .failed', (found) => found.length)).toBe(0);
  });
});

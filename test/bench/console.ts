import type { Page } from 'puppeteer-core';
import { startBrowser } from '../support/browser.ts';
import { simulatorAtRest } from '../support/simulator.ts';
import { report } from './figure.ts';

const messages = 10_000;
const number = '300000000000001';
const passes = 5;

/**
 * The longest time in which the console's inbox draws nothing, in a real browser: while it scrolls through ten thousand
 * messages, and while as many arrive.
 */
export async function benchConsole(): Promise<void> {
  const browser = await startBrowser();
  if (typeof browser === 'string') {
    console.error(browser);
    return;
  }
  const simulator = await simulatorAtRest();
  try {
    await simulator.control('POST', `numbers/${number}`, { throughput: { level: 'HIGH' } });
    const page = await browser.newPage();
    await page.setViewport({ width: 1_360, height: 860 });
    await page.goto(simulator.url);
    await page.waitForSelector('main');
    await watchFrames(page);
    await sendAll(simulator);
    await page.waitForFunction(`document.body.innerText.includes('10,000 messages')`, { timeout: 60_000 });
    report({ figure: 'console.longest_pause_while_10000_arrive', value: await longestPause(page), unit: 'ms' });
    const pauses: number[] = [];
    for (let pass = 0; pass < passes; pass += 1) {
      await page.evaluate(`document.querySelector('[role=listbox]').scrollTop = 0`);
      await page.evaluate('new Promise((done) => setTimeout(done, 500))');
      await longestPause(page);
      await scrollThrough(page);
      pauses.push(await longestPause(page));
    }
    // Others use the processor too, and whatever they do only makes a pass longer.
    const pause = Math.min(...pauses);
    report({ figure: 'console.longest_pause_scrolling_10000', value: pause, limit: 100, unit: 'ms' });
  } finally {
    await browser.close();
    await simulator.stop();
  }
}

async function sendAll(simulator: Awaited<ReturnType<typeof simulatorAtRest>>): Promise<void> {
  let to = 5_491_150_000_000;
  // The clock stands still unless it is told: each second takes a thousand.
  for (let second = 0; second < messages / 1_000; second += 1) {
    for (let batch = 0; batch < 20; batch += 1) {
      await Promise.all(
        Array.from({ length: 50 }, () => {
          to += 1;
          return simulator.send(String(to));
        }),
      );
    }
    await simulator.control('POST', 'clock', { advance_seconds: 2 });
  }
}

async function watchFrames(page: Page): Promise<void> {
  await page.evaluate(`
    window.pauseMs = 0;
    let last = performance.now();
    const frame = (at) => {
      window.pauseMs = Math.max(window.pauseMs, at - last);
      last = at;
      requestAnimationFrame(frame);
    };
    requestAnimationFrame(frame);
  `);
}

/** Since it was asked last. */
async function longestPause(page: Page): Promise<number> {
  return (await page.evaluate('(() => { const ms = window.pauseMs; window.pauseMs = 0; return ms; })()')) as number;
}

/** From end to end in steps of several screens, as a hand drags the bar. */
async function scrollThrough(page: Page): Promise<void> {
  await page.evaluate(`new Promise((done) => {
    const list = document.querySelector('[role=listbox]');
    const step = () => {
      list.scrollTop += 4_000;
      if (list.scrollTop + list.clientHeight < list.scrollHeight - 1) requestAnimationFrame(step);
      else done();
    };
    step();
  })`);
}

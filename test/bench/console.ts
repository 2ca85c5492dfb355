import type { HTTPRequest, Page } from '#simulator/test/browser';
import { startBrowser } from '#simulator/test/browser';
import { type SimulatorAtRest, simulatorAtRest } from '#simulator/test/simulator';
import { dispatchesPage } from './console-dispatches.ts';
import { report } from './figure.ts';

const messages = 10_000;
const dispatches = 100_000;
const number = '300000000000001';
const passes = 5;
/** A person notices a longer pause of the console (issue 28). */
const longestPauseMs = 100;

/**
 * Measures the longest time in which the console draws nothing, in a real browser: while messages arrive, while its
 * inbox scrolls through them, and while its list of dispatches scrolls.
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
    await sendAll(simulator, messages);
    await page.waitForFunction(`document.body.innerText.includes('10,000 messages')`, { timeout: 60_000 });
    report({ figure: 'console.longest_pause_while_10000_arrive', value: await longestPause(page), unit: 'ms' });
    await reportScrolling(page, 'console.longest_pause_scrolling_10000');
    await benchRefused(page, simulator);
    await benchDispatches(page, simulator);
  } finally {
    await browser.close();
    await simulator.stop();
  }
}

/** Refuses as many messages, and throttles half as many. The console keeps only the newest of them. */
async function benchRefused(page: Page, simulator: SimulatorAtRest): Promise<void> {
  await longestPause(page);
  for (const [code, count] of [
    [131026, messages],
    [130429, messages / 2],
  ] as const) {
    await simulator.control('POST', 'faults', { action: { code } });
    await sendAll(simulator, count);
    await simulator.control('DELETE', 'faults');
  }
  await page.waitForFunction(`document.body.innerText.includes('older throttled sends dropped')`, { timeout: 60_000 });
  report({ figure: 'console.longest_pause_while_10000_are_refused', value: await longestPause(page), unit: 'ms' });
  await reportScrolling(page, 'console.longest_pause_scrolling_10000_refused');
  await reportTyping(page, 'console.longest_pause_searching_10000_refused');
}

/** Types a search that looks through every row at each key. */
async function reportTyping(page: Page, figure: string): Promise<void> {
  const pauses: number[] = [];
  for (let pass = 0; pass < passes; pass += 1) {
    await longestPause(page);
    await page.type('input[type=search]', 'refused 13102', { delay: 120 });
    pauses.push(await longestPause(page));
    await page.$eval('input[type=search]', (input) => (input as unknown as { select(): void }).select());
    await page.keyboard.press('Delete');
  }
  report({ figure, value: Math.min(...pauses), limit: longestPauseMs, unit: 'ms' });
}

/** The browser answers for the service, because a stack needs hours to send so much. */
async function benchDispatches(page: Page, simulator: SimulatorAtRest): Promise<void> {
  await simulator.control('POST', 'service', { url: 'http://127.0.0.1:9' });
  await page.setRequestInterception(true);
  page.on('request', (request) => void answered(request));
  await page.goto('about:blank');
  await page.goto(`${simulator.url}/#/dispatches`);
  await page.waitForSelector('[role=listbox] [role=option]', { timeout: 60_000 });
  await watchFrames(page);
  // The list reads on as it is scrolled: the first pass reads all of it.
  await page.evaluate(`new Promise((done) => {
    const list = document.querySelector('[role=listbox]');
    const step = () => {
      list.scrollTop = list.scrollHeight;
      const last = list.querySelector('[role=option]:last-child')?.getAttribute('aria-posinset');
      if (Number(last) >= ${dispatches}) done();
      else requestAnimationFrame(step);
    };
    step();
  })`);
  report({
    figure: 'console.longest_pause_while_100000_dispatches_are_read',
    value: await longestPause(page),
    unit: 'ms',
  });
  await reportScrolling(page, 'console.longest_pause_scrolling_100000_dispatches');
  await reportTyping(page, 'console.longest_pause_searching_100000_dispatches');
}

async function answered(request: HTTPRequest): Promise<void> {
  if (new URL(request.url()).pathname !== '/_control/service/try') return request.continue();
  const { path } = JSON.parse(request.postData() ?? '{}') as { readonly path: string };
  const answer = dispatchesPage(path, dispatches);
  const tried = {
    status: answer === undefined ? 404 : 200,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(answer ?? { code: 'not_found', message: 'There is nothing here.' }),
    duration_ms: 1,
  };
  return request.respond({ status: 200, contentType: 'application/json', body: JSON.stringify(tried) });
}

/** Reports the best of several passes: other processes only make a pass longer. */
async function reportScrolling(page: Page, figure: string): Promise<void> {
  const pauses: number[] = [];
  for (let pass = 0; pass < passes; pass += 1) {
    await page.evaluate(`document.querySelector('[role=listbox]').scrollTop = 0`);
    await page.evaluate('new Promise((done) => setTimeout(done, 500))');
    await longestPause(page);
    await scrollThrough(page);
    pauses.push(await longestPause(page));
  }
  report({ figure, value: Math.min(...pauses), limit: longestPauseMs, unit: 'ms' });
}

async function sendAll(simulator: SimulatorAtRest, count: number): Promise<void> {
  let to = 5_491_150_000_000;
  // The simulator's clock moves only on request. Each second takes a thousand messages.
  for (let second = 0; second < count / 1_000; second += 1) {
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

async function longestPause(page: Page): Promise<number> {
  return (await page.evaluate('(() => { const ms = window.pauseMs; window.pauseMs = 0; return ms; })()')) as number;
}

/** Scrolls from end to end in steps of several screens, as a user drags the bar; in 500 steps at most. */
async function scrollThrough(page: Page): Promise<void> {
  await page.evaluate(`new Promise((done) => {
    const list = document.querySelector('[role=listbox]');
    const stepPixels = Math.max(4_000, list.scrollHeight / 500);
    const step = () => {
      list.scrollTop += stepPixels;
      if (list.scrollTop + list.clientHeight < list.scrollHeight - 1) requestAnimationFrame(step);
      else done();
    };
    step();
  })`);
}

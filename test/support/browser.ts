import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import chromium from '@sparticuz/chromium';
import puppeteer, { type Browser, type Page } from 'puppeteer-core';

const screenshots = join(import.meta.dirname, '..', '..', 'dist', 'screenshots');

/** What the package asks of a browser in a function of the cloud, apart from what would weaken the rules of the web. */
const switches = ['--no-sandbox', '--no-zygote', '--disable-gpu', '--font-render-hinting=none', '--hide-scrollbars'];

/** A real browser, whose binary a package of npm brings along; or why there is none on this machine. */
export async function startBrowser(): Promise<Browser | string> {
  try {
    const executablePath = await chromium.executablePath();
    return await puppeteer.launch({ executablePath, args: switches, headless: 'shell' });
  } catch (error) {
    const [line = ''] = String(error).split('\n');
    return `no browser runs here: ${line}`;
  }
}

/** Writes `dist/screenshots/NAME.png`, for people to look at. */
export async function photograph(page: Page, name: string): Promise<void> {
  mkdirSync(screenshots, { recursive: true });
  await page.screenshot({ path: join(screenshots, `${name}.png`) });
}

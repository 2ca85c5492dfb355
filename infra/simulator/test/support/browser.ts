import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import chromium from '@sparticuz/chromium';
import puppeteer, { type Browser, type Page } from 'puppeteer-core';
import packageJson from '../../package.json' with { type: 'json' };

const root = join(import.meta.dirname, '..', '..');
const screenshots = join(root, 'dist', 'screenshots');
const version = packageJson.devDependencies['@sparticuz/chromium'];
const unpacked = join(root, 'node_modules', '.cache', `chromium-${version}`);

export type { Browser, HTTPRequest, Page } from 'puppeteer-core';

/** The package recommends these switches for cloud functions; those that weaken web security are left out. */
const switches = ['--no-sandbox', '--no-zygote', '--disable-gpu', '--font-render-hinting=none', '--hide-scrollbars'];

/** Starts a real browser from an npm package, or returns the reason why this machine has none. */
export async function startBrowser(): Promise<Browser | string> {
  try {
    return await puppeteer.launch({ executablePath: await unpackedBinary(), args: switches, headless: 'shell' });
  } catch (error) {
    const [line = ''] = String(error).split('\n');
    return `no browser runs here: ${line}`;
  }
}

/**
 * The package would unpack into the shared temporary folder, where a second process could meet a half-written binary.
 */
async function unpackedBinary(): Promise<string> {
  if (!existsSync(unpacked)) {
    const fresh = `${unpacked}.${process.pid}`;
    mkdirSync(fresh, { recursive: true });
    const before = process.env['TMPDIR'];
    process.env['TMPDIR'] = fresh;
    try {
      await chromium.executablePath();
      if (!existsSync(unpacked)) renameSync(fresh, unpacked);
    } finally {
      if (before === undefined) delete process.env['TMPDIR'];
      else process.env['TMPDIR'] = before;
      rmSync(fresh, { recursive: true, force: true });
    }
  }
  return join(unpacked, 'chromium');
}

/** Writes `dist/screenshots/NAME.png` for people to look at. */
export async function photograph(page: Page, name: string): Promise<void> {
  mkdirSync(screenshots, { recursive: true });
  await page.screenshot({ path: join(screenshots, `${name}.png`) });
}

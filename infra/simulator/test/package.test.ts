import { execFile, spawn } from 'node:child_process';
import { existsSync, globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { afterAll, expect, test } from 'vitest';

/* The packed simulator is installed into an empty folder, without a registry, and runs there as a program. */

const run = promisify(execFile);
const folder = mkdtempSync(join(tmpdir(), 'packed-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const npm = (cwd: string, ...words: readonly string[]) =>
  run('npm', [...words, '--no-audit', '--no-fund'], { cwd, timeout: 50_000, shell: process.platform === 'win32' });

/** Returns the paths that `package.json` and the book name and that are not in the package. */
function missing(home: string): string[] {
  const { scripts: _, ...described } = JSON.parse(readFileSync(join(home, 'package.json'), 'utf8'));
  const links = readFileSync(join(home, 'README.md'), 'utf8').matchAll(/\]\(([^)#:]+)(?:#[^)]*)?\)/g);
  const named = JSON.stringify(described).matchAll(/"((?:\.\/|dist\/)[^"*]+)/g);
  return [...named, ...links].map(([, path = '']) => path).filter((path) => !existsSync(join(home, path)));
}

test('packed, installed in an empty folder and started: it answers, and serves its console', async () => {
  // The program is built by `prepack`, which a machine that forbids the scripts of packages would leave out.
  await npm(join(import.meta.dirname, '..'), 'pack', '--ignore-scripts=false', '--pack-destination', folder);
  const [packed = ''] = globSync('*.tgz', { cwd: folder });
  await npm(folder, 'install', '--offline', '--ignore-scripts', `./${packed}`);
  const home = join(folder, 'node_modules/@template-messaging/simulator');
  expect(globSync('**/*.{ts,tsx}', { cwd: home })).toEqual([]);
  expect(missing(home)).toEqual([]);
  expect(readFileSync(join(home, 'dist/licences.txt'), 'utf8')).toMatch(/^preact\n[\s\S]*^valibot\n/m);
  const program = spawn(process.execPath, [join(home, 'dist/main.js')], {
    cwd: folder,
    env: { PATH: process.env['PATH'], PLATFORM_PORT: '0' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  try {
    const url = await new Promise<string>((resolve, reject) => {
      program.once('exit', (code) => reject(new Error(`it ended with ${code}`)));
      createInterface({ input: program.stdout }).once('line', (line) => resolve(line.replace('platform ', '')));
    });
    const got = async (path: string) => {
      const reply = await fetch(`${url}${path}`);
      return [reply.status, reply.headers.get('content-type'), (await reply.text()).length > 100];
    };
    expect(await got('/')).toEqual([200, 'text/html; charset=utf-8', true]);
    expect(await got('/console/app.js')).toEqual([200, 'text/javascript; charset=utf-8', true]);
    expect(await got('/console/style.css')).toEqual([200, 'text/css; charset=utf-8', true]);
    expect(await got('/_control/overview')).toEqual([200, 'application/json', true]);
    expect(await got('/v26.0/200000000000001/message_templates?access_token=demo-platform-token')).toEqual([
      200,
      'application/json; charset=UTF-8',
      true,
    ]);
  } finally {
    program.kill();
  }
});

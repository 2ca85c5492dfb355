import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';

const infra = join(import.meta.dirname, '../../infra');
const nodePackage = `node-${process.platform}-${process.arch}`;
const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
});

function write(file: string, text: string, mode = 0o644): void {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
  chmodSync(file, mode);
}

const lockOf = (packages: object) => JSON.stringify({ packages });
const packages = {
  '': { version: '1.0.0' },
  'node_modules/thing': { version: '1.0.0', integrity: 'sha512-one' },
  'node_modules/for-another-system': { version: '1.0.0', optional: true, os: ['none'] },
  'node_modules/for-another-library': { version: '1.0.0', optional: true, os: [process.platform], libc: ['none'] },
  'node_modules/for-this-system': { version: '1.0.0', optional: true, os: [process.platform], cpu: process.arch },
  [`node_modules/${nodePackage}`]: { version: '24.0.0', optional: true },
  'infra/thing': { version: '1.0.0' },
  'node_modules/@ours/thing': { resolved: 'infra/thing', link: true },
};

/** This `npm` records its arguments, and installs the packages of the lock file for this system, except one. */
const npm = (leavesOut: string | undefined) => `#!${process.execPath}
const { appendFileSync, mkdirSync, readFileSync, writeFileSync } = require('node:fs');
appendFileSync('npm-calls', process.argv.slice(2).join(' ') + '\\n');
const { packages } = JSON.parse(readFileSync('package-lock.json', 'utf8'));
const installed = Object.entries(packages).filter(([folder]) => /thing|this-system/.test(folder) && folder !== ${JSON.stringify(leavesOut)});
for (const [folder] of installed) {
  mkdirSync(folder, { recursive: true });
  writeFileSync(folder + '/package.json', '{}');
}
mkdirSync('node_modules', { recursive: true });
writeFileSync('node_modules/.package-lock.json', JSON.stringify({ packages: Object.fromEntries(installed) }));
`;

/** Makes a project with a few packages, a script that prints its Node.js, and an `npm`. */
function project({ leavesOut }: { readonly leavesOut?: string } = {}) {
  const root = mkdtempSync(join(tmpdir(), 'run-'));
  folders.push(root);
  for (const file of ['run.mjs', 'installation.mjs']) {
    mkdirSync(join(root, 'infra'), { recursive: true });
    copyFileSync(join(infra, file), join(root, 'infra', file));
  }
  write(join(root, 'package-lock.json'), lockOf(packages));
  write(
    join(root, 'infra/say.mjs'),
    `console.log(JSON.stringify({ on: process.env.RUNS_ON ?? 'host', path: process.env.PATH, args: process.argv.slice(2) }));`,
  );
  write(join(root, 'bin/npm'), npm(leavesOut), 0o755);
  return {
    root,
    lock: join(root, 'package-lock.json'),
    npmCalls: () =>
      existsSync(join(root, 'npm-calls')) ? readFileSync(join(root, 'npm-calls'), 'utf8').trim().split('\n') : [],
    installByHand: () => spawnSync(join(root, 'bin/npm'), ['install'], { cwd: root }),
    pinNode: (script: string) => {
      write(join(root, 'node_modules', nodePackage, 'package.json'), '{}');
      write(join(root, 'node_modules', nodePackage, 'bin/node'), `#!/bin/sh\n${script}\n`, 0o755);
    },
    run: (searchPath = `${join(root, 'bin')}:/usr/bin:/bin`) => {
      const args = [join(root, 'infra/run.mjs'), 'infra/say.mjs', 'one', '--two'];
      const options = { cwd: tmpdir(), encoding: 'utf8', env: { PATH: searchPath } } as const;
      return spawnSync(process.execPath, args, options);
    },
  };
}

const installing = (why: string) => `installing dependencies (${why}) ...\n`;

describe('the runner', () => {
  it('installs what the lock file pins, once, development packages too, and hands the arguments on', () => {
    const { run, npmCalls } = project();
    const first = run();
    expect(first.stderr).toBe(installing('nothing is installed yet'));
    expect(JSON.parse(first.stdout)).toMatchObject({ args: ['one', '--two'] });
    expect(run()).toMatchObject({ status: 0, stderr: '' });
    expect(npmCalls()).toHaveLength(1);
    expect(npmCalls()[0]).toMatch(/^ci .*--dry-run=false .*--include=dev --include=optional$/);
  });

  it('starts at once after an installation by hand', () => {
    const { run, installByHand, npmCalls } = project();
    installByHand();
    expect(run()).toMatchObject({ status: 0, stderr: '' });
    expect(npmCalls()).toEqual(['install']);
  });

  const thing = 'node_modules/thing';
  it.each([
    ['a package is gone', 'node_modules lacks thing', ({ root }) => rmSync(join(root, thing), { recursive: true })],
    [
      'the link to a workspace is gone',
      'node_modules lacks @ours/thing',
      ({ root }) => rmSync(join(root, 'node_modules/@ours/thing'), { recursive: true }),
    ],
    [
      'the lock file has one more',
      'node_modules lacks another-thing',
      ({ lock }) => write(lock, lockOf({ ...packages, 'node_modules/another-thing': { version: '1.0.0' } })),
    ],
    [
      'the lock file has another version',
      'node_modules and package-lock.json differ in thing',
      ({ lock }) => write(lock, lockOf({ ...packages, [thing]: { ...packages[thing], version: '1.0.1' } })),
    ],
    [
      'the lock file has other content of the same version',
      'node_modules and package-lock.json differ in thing',
      ({ lock }) => write(lock, lockOf({ ...packages, [thing]: { ...packages[thing], integrity: 'sha512-two' } })),
    ],
    [
      'the lock file has a package no more',
      'node_modules and package-lock.json differ in for-this-system',
      ({ lock }) => write(lock, lockOf({ [thing]: packages[thing] })),
    ],
    [
      'somebody has installed without optional packages',
      'node_modules lacks for-this-system',
      ({ root }) => write(join(root, 'node_modules/.package-lock.json'), lockOf({ [thing]: packages[thing] })),
    ],
    [
      'what npm noted is broken',
      'nothing is installed yet',
      ({ root }) => write(join(root, 'node_modules/.package-lock.json'), '{'),
    ],
  ] satisfies [string, string, (made: ReturnType<typeof project>) => void][])(
    'installs again when %s',
    (_when, why, change) => {
      const made = project();
      made.installByHand();
      change(made);
      expect(made.run()).toMatchObject({ status: 0, stderr: installing(why) });
      expect(made.run()).toMatchObject({ status: 0, stderr: '' });
    },
  );

  it.each([
    ['npm leaves a package out', thing, undefined, 'npm ci left thing out: delete node_modules and start again.\n'],
    ['there is no npm', undefined, '/nowhere', 'npm could not be started (ENOENT): it has to be on the PATH.\n'],
  ])('says it in one sentence when %s', (_what, leavesOut, searchPath, sentence) => {
    const { status, stderr } = project({ ...(leavesOut && { leavesOut }) }).run(searchPath);
    expect({ status, stderr }).toEqual({ status: 1, stderr: `${installing('nothing is installed yet')}${sentence}` });
  });

  const again = 'nothing was started. To bring it back: git checkout HEAD -- package-lock.json\n';
  it.each([
    ['is missing', undefined, /^package-lock\.json is missing; /],
    ['is no JSON', '<<<<<<< HEAD\n{}', /^package-lock\.json cannot be read \(.*not valid JSON\); /],
    ['lists nothing', '{}', /^package-lock\.json cannot be read \(it lists no packages\); /],
  ])('says it in one sentence when package-lock.json %s', (_how, text, sentence) => {
    const { lock, run, npmCalls } = project();
    if (text === undefined) rmSync(lock);
    else write(lock, text);
    const { status, stderr } = run();
    expect(status).toBe(1);
    expect(stderr).toMatch(sentence);
    expect(stderr.split('; ')[1]).toBe(again);
    expect(npmCalls()).toEqual([]);
  });
});

describe('the Node.js of a script', () => {
  it('is the one that the lock file pins for the platform, for its children too', () => {
    const { root, run, pinNode } = project();
    pinNode(`RUNS_ON=pinned exec '${process.execPath}' "$@"`);
    const { on, path } = JSON.parse(run().stdout);
    const modules = join(root, 'node_modules');
    expect(on).toBe('pinned');
    expect(path.split(':').slice(0, 2)).toEqual([join(modules, nodePackage, 'bin'), join(modules, '.bin')]);
  });

  it.each([
    ['is not installed', undefined],
    ['does not run', 'exit 127'],
  ])('is the one that started us when the pinned one %s, and nothing else of its folder is found', (_how, script) => {
    const { root, run, pinNode } = project();
    if (script !== undefined) pinNode(script);
    const { on, path } = JSON.parse(run().stdout);
    expect(on).toBe('host');
    expect(path.split(':')[0]).toBe(join(root, 'node_modules/.host-node'));
    const { stdout } = spawnSync(join(root, 'node_modules/.host-node/node'), ['--version'], { encoding: 'utf8' });
    expect(stdout.trim()).toBe(process.version);
  });
});

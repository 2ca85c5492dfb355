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

/**
 * A project with one package, one script that says what it runs on, and an `npm` that notes how it was called and installs
 * `installs`.
 */
function project({ installs = ['thing'] }: { readonly installs?: readonly string[] } = {}) {
  const root = mkdtempSync(join(tmpdir(), 'run-'));
  folders.push(root);
  for (const file of ['run.mjs', 'installation.mjs']) {
    mkdirSync(join(root, 'infra'), { recursive: true });
    copyFileSync(join(infra, file), join(root, 'infra', file));
  }
  const packages = {
    '': {},
    'node_modules/thing': { version: '1.0.0' },
    'node_modules/for-another-system': { version: '1.0.0', optional: true },
    [`node_modules/${nodePackage}`]: { version: '24.0.0', optional: true },
  };
  write(join(root, 'package-lock.json'), JSON.stringify({ packages }));
  write(
    join(root, 'infra/say.mjs'),
    `console.log(JSON.stringify({ on: process.env.RUNS_ON ?? 'host', path: process.env.PATH, args: process.argv.slice(2) }));`,
  );
  const made = installs.map((name) => `mkdir -p node_modules/${name} && echo '{}' > node_modules/${name}/package.json`);
  write(
    join(root, 'bin/npm'),
    `#!/bin/sh\necho "$@" >> npm-calls\n${['mkdir -p node_modules', ...made].join('\n')}\n`,
    0o755,
  );
  return {
    root,
    npmCalls: () =>
      existsSync(join(root, 'npm-calls')) ? readFileSync(join(root, 'npm-calls'), 'utf8').trim().split('\n') : [],
    /** Puts a Node.js where the platform's package has it. */
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

describe('the runner', () => {
  it('installs what the lock file pins, once, and hands the arguments on', () => {
    const { run, npmCalls } = project();
    const first = run();
    expect(first.stderr).toContain('the lock file is new or has changed');
    expect(JSON.parse(first.stdout)).toMatchObject({ args: ['one', '--two'] });
    expect(run()).toMatchObject({ status: 0, stderr: '' });
    expect(npmCalls()).toHaveLength(1);
    expect(npmCalls()[0]).toMatch(/^ci .*--dry-run=false/);
  });

  it('installs again when a package is gone', () => {
    const { root, run, npmCalls } = project();
    run();
    rmSync(join(root, 'node_modules/thing'), { recursive: true });
    expect(run()).toMatchObject({ status: 0, stderr: 'installing dependencies (node_modules lacks thing) ...\n' });
    expect(npmCalls()).toHaveLength(2);
  });

  it.each([
    ['npm leaves a package out', project, undefined, 'npm ci left thing out: delete node_modules and start again.\n'],
    ['there is no npm', project, '/nowhere', 'npm could not be started (ENOENT): it has to be on the PATH.\n'],
  ])('says it in one sentence when %s', (_what, make, searchPath, sentence) => {
    const { status, stderr } = make({ installs: [] }).run(searchPath);
    expect({ status, stderr }).toEqual({
      status: 1,
      stderr: `installing dependencies (the lock file is new or has changed) ...\n${sentence}`,
    });
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

import { spawnSync } from 'node:child_process';
import { chmodSync, cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';

const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
});

/**
 * Makes a repository with the scripts, three committed files, and a compiler and a linter that print their arguments.
 */
function repository() {
  const root = mkdtempSync(join(tmpdir(), 'check-'));
  folders.push(root);
  const write = (file: string, text: string) => {
    mkdirSync(dirname(join(root, file)), { recursive: true });
    writeFileSync(join(root, file), text);
  };
  for (const name of ['changed-files', 'check-steps', 'check', 'fix', 'steps']) {
    cpSync(join(import.meta.dirname, `../${name}.ts`), join(root, `test/${name}.ts`));
  }
  for (const tool of ['tsc', 'biome']) {
    write(`node_modules/.bin/${tool}`, `#!/bin/sh\necho "ran ${tool} $*"\n! grep -rq wrong lib\n`);
    chmodSync(join(root, `node_modules/.bin/${tool}`), 0o755);
  }
  write('infra/licences.ts', "console.log('ran licences', ...process.argv.slice(2))");
  write('package.json', '{"type":"module"}');
  write('.gitignore', 'node_modules\n');
  for (const name of ['a', 'b', 'c']) write(`lib/${name}.ts`, '');
  const git = (...given: string[]) => {
    const identity = ['-c', 'user.name=A', '-c', 'user.email=a@example.com'];
    expect(spawnSync('git', [...identity, ...given], { cwd: root, encoding: 'utf8' })).toMatchObject({ status: 0 });
  };
  git('init');
  const commit = () => {
    git('add', '.');
    git('commit', '--allow-empty', '-m', 'all');
  };
  commit();
  const run = (script: string, given: readonly string[] = [], settings: Record<string, string> = {}) => {
    const PATH = `${join(root, 'node_modules/.bin')}:${process.env['PATH']}`;
    const env = { PATH, HOME: root, ...settings };
    const options = { cwd: root, encoding: 'utf8', env } as const;
    const { status, stdout, stderr } = spawnSync(process.execPath, [`test/${script}.ts`, ...given], options);
    const linted = [...stdout.matchAll(/^ran biome check (.*?)(?: --no-errors\S+ --files\S+)?$/gm)].map(
      ([, line]) => line,
    );
    return { status, stdout, stderr, linted };
  };
  return { root, write, commit, run };
}

describe('npm run check', () => {
  it('lints everything, then what has changed since all was clean, and tells its steps with seconds', () => {
    const { write, commit, run, root } = repository();
    const first = run('check');
    expect(first).toMatchObject({ status: 0, linted: ['--error-on-warnings .'] });
    expect(first.stdout).toContain('ran licences --refused\n');
    expect(first.stdout).toMatch(/^ok {5} +\d+\.\d s {2}tsc$/m);
    expect(run('check')).toMatchObject({ status: 0, linted: [], stdout: expect.stringContaining('no file to lint') });
    write('lib/a.ts', 'changed');
    write('lib/new.ts', 'new');
    rmSync(join(root, 'lib/c.ts'));
    expect(run('check').linted).toEqual(['--error-on-warnings lib/a.ts lib/new.ts']);
    commit();
    write('lib/b.ts', 'changed later');
    expect(run('check').linted).toEqual(['--error-on-warnings lib/b.ts lib/new.ts']);
    expect(run('check', [], { CI: 'true' }).linted).toEqual(['--error-on-warnings .']);
  });

  it('lints what was not clean again, and everything when the rules have changed', () => {
    const { write, commit, run } = repository();
    run('check');
    write('lib/a.ts', 'wrong');
    for (const _ of [1, 2]) {
      expect(run('check')).toMatchObject({ status: 1, linted: ['--error-on-warnings lib/a.ts'] });
      commit();
    }
    write('.biome.json', '{}');
    expect(run('check').linted).toEqual(['--error-on-warnings .']);
  });
});

describe('npm run fix', () => {
  it('mends what is named, from where npm was called, or what git says has changed', () => {
    const { root, write, run } = repository();
    const nothing = run('fix');
    expect(nothing).toMatchObject({ status: 0, linted: [], stdout: expect.stringContaining('nothing has changed') });
    write('lib/b.ts', 'changed');
    write('lib/new.ts', 'new');
    expect(run('fix').linted).toEqual(['--error-on-warnings --write lib/b.ts lib/new.ts']);
    expect(run('fix', ['lib', '.']).linted).toEqual(['--error-on-warnings --write lib .']);
    const inLib = { INIT_CWD: join(root, 'lib') };
    expect(run('fix', ['a.ts'], inLib).linted).toEqual(['--error-on-warnings --write lib/a.ts']);
    expect(run('fix', ['a.ts'])).toMatchObject({ status: 1, linted: [], stderr: expect.stringContaining('no a.ts') });
  });
});

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { isAllowed, licensedPackages } from '../../infra/licences.ts';
import { runScript } from '../support/processes.ts';

const root = join(import.meta.dirname, '..', '..');
/** Only these folders have a lock file: the project with its workspace, and the example that stands alone. */
const installed = ['.', 'test/examples/typescript'];
const workspace = 'infra/simulator';
const textOf = (path: string) => readFileSync(join(root, path), 'utf8');

/** Returns the packages that a package.json asks for, by name. */
function askedIn(folder: string): Record<string, string> {
  const { dependencies, devDependencies, optionalDependencies } = JSON.parse(textOf(join(folder, 'package.json')));
  return { ...dependencies, ...devDependencies, ...optionalDependencies };
}

it('continuous integration runs actions by commit, each with the release that it is', () => {
  const workflow = textOf('.github/workflows/ci.yml');
  expect(workflow.match(/^[a-z]+/gm)).toEqual(['name', 'on', 'permissions', 'jobs']);
  const used = workflow.match(/^\s*- uses: .*$/gm) ?? [];
  expect(used.length).toBeGreaterThan(2);
  for (const line of used) expect(line).toMatch(/^\s*- uses: [\w-]+\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/);
});

it.each([...installed, workspace])('every package is asked for in one version, written out: %s', (folder) => {
  const asked = Object.values(askedIn(folder));
  expect(asked.filter((version) => !/^\d+\.\d+\.\d+$/.test(version))).toEqual([]);
});

it('the workspace has the version of the project, and the same one of each package that both ask for', () => {
  const [ours, theirs] = [askedIn('.'), askedIn(workspace)];
  expect(Object.entries(theirs).filter(([name, version]) => version !== (ours[name] ?? version))).toEqual([]);
  const versionOf = (folder: string) => JSON.parse(textOf(join(folder, 'package.json'))).version;
  expect(versionOf(workspace)).toBe(versionOf('.'));
});

it.each(installed)('every package comes with an integrity, from no named registry: %s', (folder) => {
  const { packages } = JSON.parse(textOf(join(folder, 'package-lock.json'))) as {
    packages: Record<string, { integrity?: string; inBundle?: boolean; resolved?: string; link?: boolean }>;
  };
  const { '': ours, [workspace]: _, ...all } = packages;
  expect(ours).toBeDefined();
  const others = Object.fromEntries(Object.entries(all).filter(([, { link }]) => link !== true));
  expect(Object.keys(all).length - Object.keys(others).length).toBe(folder === '.' ? 1 : 0);
  const unchecked = Object.entries(others).filter(([, { integrity, inBundle }]) => !integrity && !inBundle);
  expect(unchecked.map(([path]) => path)).toEqual([]);
  expect(Object.values(others).filter(({ resolved }) => resolved !== undefined)).toEqual([]);
});

it('every licence has been looked at, and the list is printed', async () => {
  const packages = licensedPackages(textOf('package-lock.json'));
  expect(packages.length).toBeGreaterThan(100);
  const all = installed.flatMap((folder) => licensedPackages(textOf(join(folder, 'package-lock.json'))));
  expect(all.filter((each) => !isAllowed(each))).toEqual([]);
  const { code, stdout } = await runScript('infra/licences.ts').ended;
  expect(code).toBe(0);
  expect(stdout.trim().split('\n')).toHaveLength(packages.length);
  expect(stdout).toMatch(/^deployed\tvalibot@\d+\.\d+\.\d+\tMIT$/m);
});

it('an unknown licence is refused, and so is a tool’s licence on a deployed package', () => {
  const lock = (license: string | undefined, dev: boolean) =>
    licensedPackages(
      JSON.stringify({
        packages: {
          '': {},
          'node_modules/a': { version: '1.0.0', license, dev },
        },
      }),
    );
  const allowed = (license: string | undefined, dev: boolean) => lock(license, dev).every(isAllowed);
  expect([allowed('MIT', false), allowed('AGPL-3.0-only', true), allowed(undefined, true)]).toEqual([
    true,
    false,
    false,
  ]);
  expect([allowed('MPL-2.0', true), allowed('MPL-2.0', false)]).toEqual([true, false]);
});

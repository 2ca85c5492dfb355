import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { isAllowed, licensedPackages } from '../../infra/licences.ts';
import { runScript } from '../support/processes.ts';

const root = join(import.meta.dirname, '..', '..');
/** Only these folders have packages: the project, and the example that stands alone. */
const installed = ['.', 'test/examples/typescript'];
const textOf = (path: string) => readFileSync(join(root, path), 'utf8');

it('continuous integration runs actions by commit, each with the release that it is', () => {
  const used = textOf('.github/workflows/ci.yml').match(/^\s*- uses: .*$/gm) ?? [];
  expect(used.length).toBeGreaterThan(2);
  for (const line of used) expect(line).toMatch(/^\s*- uses: [\w-]+\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/);
});

it.each(installed)('every package is of one version, written out, and comes with an integrity: %s', (folder) => {
  const { dependencies, devDependencies, optionalDependencies } = JSON.parse(textOf(join(folder, 'package.json')));
  const asked = Object.values({ ...dependencies, ...devDependencies, ...optionalDependencies });
  expect(asked.filter((version) => !/^\d+\.\d+\.\d+$/.test(String(version)))).toEqual([]);
  const { packages } = JSON.parse(textOf(join(folder, 'package-lock.json'))) as {
    packages: Record<string, { integrity?: string; inBundle?: boolean; resolved?: string }>;
  };
  const { '': ours, ...others } = packages;
  expect(ours).toBeDefined();
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

import { readFileSync } from 'node:fs';
import { join } from 'node:path';

// `node infra/run.mjs infra/licences.ts` lists every package with its licence, deployed ones first; with `--refused`,
// as `npm run check` runs it, none. It ends with status 1 when a licence is in neither list below.

export interface LicensedPackage {
  readonly name: string;
  readonly version: string;
  readonly licence: string;
  /** A development package is in no bundle and not needed to deploy: tests, lint, emulators, operator commands. */
  readonly development: boolean;
}

/** These licences ask only that their text is kept. */
const permissive = new Set([
  '(MIT OR Apache-2.0)',
  '(MIT OR CC0-1.0)',
  '(MIT OR GPL-3.0-or-later)',
  '0BSD',
  'Apache-2.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'BlueOak-1.0.0',
  'ISC',
  'MIT',
  'MIT OR Apache-2.0',
  'MIT-0',
  'Unlicense',
]);

/** These are fine for a tool that is used but not redistributed. */
const fineForDevelopment = new Set(['CC-BY-4.0', 'MPL-2.0', 'PSF-2.0', 'Python-2.0']);

interface LockedPackage {
  readonly name?: string;
  readonly version?: string;
  readonly license?: string;
  readonly dev?: boolean;
  /** This leads to a folder of the repository, which has no foreign licence. */
  readonly link?: boolean;
}

const isForeign = (path: string) => /(?:^|\/)node_modules\//.test(path);

export function licensedPackages(lockText: string): LicensedPackage[] {
  const { packages }: { readonly packages: Readonly<Record<string, LockedPackage>> } = JSON.parse(lockText);
  const found = Object.entries(packages)
    .filter(([path, { link }]) => isForeign(path) && link !== true)
    .map(([path, { name, version = '', license = 'none', dev = false }]) => ({
      name: name ?? path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length),
      version,
      licence: license,
      development: dev,
    }));
  const texts = new Map(found.map((each) => [JSON.stringify(each), each]));
  return [...texts.values()].sort(
    (a, b) => Number(a.development) - Number(b.development) || a.name.localeCompare(b.name, 'en'),
  );
}

export function isAllowed({ licence, development }: LicensedPackage): boolean {
  return permissive.has(licence) || (development && fineForDevelopment.has(licence));
}

if (import.meta.main) {
  const packages = licensedPackages(readFileSync(join(import.meta.dirname, '..', 'package-lock.json'), 'utf8'));
  const isListed = !process.argv.includes('--refused');
  for (const { name, version, licence, development } of isListed ? packages : []) {
    console.log([development ? 'development' : 'deployed', `${name}@${version}`, licence].join('\t'));
  }
  const refused = packages.filter((each) => !isAllowed(each));
  for (const { name, licence } of refused) {
    console.error(`${name}: the licence ${licence} is not among those that were looked at (infra/licences.ts)`);
  }
  if (refused.length > 0) process.exitCode = 1;
}

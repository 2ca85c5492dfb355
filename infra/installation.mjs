// Installs the pinned packages and finds the Node.js to run on. Nothing is installed yet, so this is plain JavaScript
// without dependencies, for Node.js 20 or newer.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, realpathSync, rmSync, symlinkSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = resolve(dirname(fileURLToPath(import.meta.url)), '..');
const modules = join(root, 'node_modules');

/** An obstacle says in one sentence why a command cannot run, and what to do. */
export class Obstacle extends Error {}

/** From this major version on, Node.js runs TypeScript without a build. */
const oldestMajor = 24;

const platformName = process.platform === 'win32' ? 'win' : process.platform;
const nodePackage = `node-${platformName}-${process.arch}`;
const pinnedNode = join(modules, nodePackage, 'bin', process.platform === 'win32' ? 'node.exe' : 'node');
const hostIsNewEnough = Number(process.versions.node.split('.')[0]) >= oldestMajor;

/**
 * Installs when `node_modules` differs from package-lock.json. Returns the Node.js to run on: the pinned one, else the
 * one that started this process, when it is new enough. No install script of a package is needed. Throws an `Obstacle`.
 */
export function installedNode() {
  const pinned = pinnedPackages();
  const why = whyInstall(pinned);
  if (why !== undefined) install(why, pinned);
  const node = nodeThatRuns();
  if (node !== undefined) return { path: node, folder: dirname(node) };
  if (hostIsNewEnough) return { path: process.execPath, folder: folderOfHostNode() };
  const pin = pinned[`node_modules/${nodePackage}`];
  const tried =
    pin === undefined
      ? `the lock file pins none for ${platformName}-${process.arch}`
      : `${nodePackage}@${pin.version} is not installed, or does not run on this system`;
  throw new Obstacle(
    `Node.js ${oldestMajor} or newer is needed: ${tried}, and this is ${process.version}. Install it and start again.`,
  );
}

/** Throws an `Obstacle`. */
function pinnedPackages() {
  try {
    return packagesOf(join(root, 'package-lock.json'));
  } catch (error) {
    const fault = error.code === 'ENOENT' ? 'is missing' : `cannot be read (${error.message.replaceAll(/\s+/g, ' ')})`;
    throw new Obstacle(
      `package-lock.json ${fault}; nothing was started. To bring it back: git checkout HEAD -- package-lock.json`,
    );
  }
}

function installedPackages() {
  try {
    return packagesOf(join(modules, '.package-lock.json'));
  } catch {
    return undefined;
  }
}

function packagesOf(lockFile) {
  const { packages } = JSON.parse(readFileSync(lockFile, 'utf8'));
  if (typeof packages !== 'object' || packages === null) throw new Error('it lists no packages');
  return Object.fromEntries(Object.entries(packages).filter(([folder]) => folder.includes('node_modules/')));
}

/** Returns the reason to install; undefined when all packages are there. */
function whyInstall(pinned) {
  const installed = installedPackages();
  if (installed === undefined) return 'nothing is installed yet';
  const other = Object.keys(installed).find(
    (folder) =>
      // A link to a workspace has neither version nor integrity.
      pinned[folder] === undefined ||
      installed[folder].version !== pinned[folder].version ||
      installed[folder].integrity !== pinned[folder].integrity,
  );
  if (other !== undefined) return `node_modules and package-lock.json differ in ${nameOf(other)}`;
  const lacking =
    Object.keys(pinned).find((folder) => belongsHere(pinned[folder]) && !(folder in installed)) ??
    Object.keys(installed).find((folder) => !isThere(folder));
  return lacking === undefined ? undefined : `node_modules lacks ${nameOf(lacking)}`;
}

/**
 * Tells whether npm must have installed a package here. Returns false where this is unknown: packages for one C
 * library, and dependencies of packages for other platforms.
 */
function belongsHere({ optional, os, cpu, libc }) {
  if (!optional) return true;
  return os !== undefined && libc === undefined && isOf(os, process.platform) && isOf(cpu, process.arch);
}

const isOf = (list, name) => list === undefined || [list].flat().includes(name);
const isThere = (folder) => existsSync(join(root, folder, 'package.json'));
const nameOf = (folder) => folder.slice(folder.lastIndexOf('node_modules/') + 'node_modules/'.length);

function install(why, pinned) {
  console.error(`installing dependencies (${why}) ...`);
  // What npm took from the user's command line must not change what is installed.
  const fixed = [
    '--dry-run=false',
    '--global=false',
    '--package-lock-only=false',
    '--include=dev',
    '--include=optional',
  ];
  const { status, error } = spawnSync('npm', ['ci', '--loglevel=error', '--no-audit', '--no-fund', ...fixed], {
    cwd: root,
    stdio: ['ignore', 2, 2],
    shell: process.platform === 'win32',
  });
  if (error !== undefined) throw new Obstacle(`npm could not be started (${error.code}): it has to be on the PATH.`);
  if (status !== 0) throw new Obstacle('npm ci failed; nothing was started. See the lines above.');
  const leftOut = Object.keys(pinned).find((folder) => !pinned[folder].optional && !isThere(folder));
  if (leftOut !== undefined) {
    throw new Obstacle(`npm ci left ${nameOf(leftOut)} out: delete node_modules and start again.`);
  }
}

/** Returns the pinned Node.js, unless it is missing, damaged or built for another C library. */
function nodeThatRuns() {
  if (!existsSync(pinnedNode)) return undefined;
  return spawnSync(pinnedNode, ['--version']).status === 0 ? pinnedNode : undefined;
}

/** Returns a folder that holds only `node`: the host's own folder may hold tools of other versions. */
function folderOfHostNode() {
  const folder = join(modules, '.host-node');
  const link = join(folder, 'node');
  if (existsSync(link) && realpathSync(link) === realpathSync(process.execPath)) return folder;
  mkdirSync(folder, { recursive: true });
  rmSync(link, { force: true });
  symlinkSync(process.execPath, link);
  return folder;
}

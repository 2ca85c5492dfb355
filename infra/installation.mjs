// What run.mjs needs before anything is installed, so plain JavaScript without dependencies, for Node.js 20 or newer:
// the packages that package-lock.json pins, and the Node.js to run on.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = resolve(dirname(fileURLToPath(import.meta.url)), '..');
const modules = join(root, 'node_modules');
const stampFile = join(modules, '.installed-lock-sha256');
const lockText = readFileSync(join(root, 'package-lock.json'), 'utf8');
const lockHash = createHash('sha256').update(lockText).digest('hex');
const packages = JSON.parse(lockText).packages;

/** What keeps a command from running, in one sentence that says what to do. */
export class Obstacle extends Error {}

/** The oldest Node.js that runs the project's TypeScript as it is. */
const oldestMajor = 24;

const platformName = process.platform === 'win32' ? 'win' : process.platform;
const nodePackage = `node-${platformName}-${process.arch}`;
const pinnedNode = join(modules, nodePackage, 'bin', process.platform === 'win32' ? 'node.exe' : 'node');
const hostIsNewEnough = Number(process.versions.node.split('.')[0]) >= oldestMajor;

/**
 * Installs when the lock file has changed since the last time, or when the installation lacks a package, and returns the
 * Node.js to run on: the one that the lock file pins for this platform, else the one that started us, when it is new
 * enough. No package's install script is needed. Throws an `Obstacle`.
 */
export function installedNode() {
  const why = whyInstall();
  if (why !== undefined) install(why);
  const lacking = missingPackage();
  if (lacking !== undefined) throw new Obstacle(`npm ci left ${lacking} out: delete node_modules and start again.`);
  const pinned = nodeThatRuns();
  if (pinned !== undefined) return { path: pinned, folder: dirname(pinned) };
  if (hostIsNewEnough) return { path: process.execPath, folder: folderOfHostNode() };
  const pin = packages[`node_modules/${nodePackage}`];
  const tried =
    pin === undefined
      ? `the lock file pins none for ${platformName}-${process.arch}`
      : `${nodePackage}@${pin.version} is not installed, or does not run on this system`;
  throw new Obstacle(
    `Node.js ${oldestMajor} or newer is needed: ${tried}, and this is ${process.version}. Install it and start again.`,
  );
}

/** Why the packages have to be installed; undefined when all is there. */
function whyInstall() {
  const installedHash = existsSync(stampFile) ? readFileSync(stampFile, 'utf8') : '';
  if (installedHash !== lockHash) return 'the lock file is new or has changed';
  const missing = missingPackage();
  if (missing !== undefined) return `node_modules lacks ${missing}`;
  const isPinned = `node_modules/${nodePackage}` in packages;
  return isPinned && !hostIsNewEnough && nodeThatRuns() === undefined ? `node_modules lacks ${nodePackage}` : undefined;
}

/** A package that belongs to every installation and is not in this one. */
function missingPackage() {
  const [path] =
    Object.entries(packages).find(
      ([key, { optional }]) => key !== '' && !optional && !existsSync(join(root, key, 'package.json')),
    ) ?? [];
  return path?.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length);
}

function install(why) {
  console.error(`installing dependencies (${why}) ...`);
  // What npm took for itself from the line that started us must not change what is installed.
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
  writeFileSync(stampFile, lockHash);
}

/** The pinned Node.js, unless it is missing, damaged, or made for another C library. */
function nodeThatRuns() {
  if (!existsSync(pinnedNode)) return undefined;
  return spawnSync(pinnedNode, ['--version']).status === 0 ? pinnedNode : undefined;
}

/** A folder with nothing in it but `node`: the one where the host keeps its own may hold tools of other versions. */
function folderOfHostNode() {
  const folder = join(modules, '.host-node');
  const link = join(folder, 'node');
  if (existsSync(link) && realpathSync(link) === realpathSync(process.execPath)) return folder;
  mkdirSync(folder, { recursive: true });
  rmSync(link, { force: true });
  symlinkSync(process.execPath, link);
  return folder;
}

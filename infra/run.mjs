// Runs one of the project's scripts on the Node.js that package-lock.json pins, installing first when the lock file
// has changed since the last installation. Plain JavaScript without dependencies: it runs before anything is installed,
// on whatever Node.js 20 or newer started npm.
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = resolve(dirname(fileURLToPath(import.meta.url)), '..');
const stampFile = join(root, 'node_modules', '.installed-lock-sha256');
const pinnedNode = join(root, 'node_modules', '.bin', process.platform === 'win32' ? 'node.cmd' : 'node');

function installWhenLockChanged() {
  const lockHash = createHash('sha256')
    .update(readFileSync(join(root, 'package-lock.json')))
    .digest('hex');
  const installedHash = existsSync(stampFile) ? readFileSync(stampFile, 'utf8') : '';
  if (installedHash === lockHash && existsSync(pinnedNode)) return;
  console.error('installing dependencies (the lock file is new or has changed) ...');
  const install = spawnSync('npm', ['ci', '--loglevel=error', '--no-audit', '--no-fund'], {
    cwd: root,
    stdio: ['ignore', 2, 2],
  });
  if (install.status !== 0) {
    console.error('npm ci failed; nothing was started. See the lines above.');
    process.exit(install.status ?? 1);
  }
  writeFileSync(stampFile, lockHash);
}

const [script, ...scriptArguments] = process.argv.slice(2);
if (script === undefined) {
  console.error('usage: node infra/run.mjs SCRIPT [ARGUMENT ...]');
  process.exit(2);
}
installWhenLockChanged();

const child = spawn(pinnedNode, [join(root, script), ...scriptArguments], {
  cwd: root,
  stdio: 'inherit',
  env: { ...process.env, PATH: `${join(root, 'node_modules', '.bin')}:${process.env.PATH}` },
});
// Ctrl-C reaches the child by itself (same process group); forwarding it as well is harmless, the child handles it once.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
child.on('exit', (code, signal) => {
  process.exitCode = code ?? (signal === 'SIGINT' ? 130 : signal === 'SIGTERM' ? 143 : 1);
});

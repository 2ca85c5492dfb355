// Runs a script on the Node.js that package-lock.json pins, and installs first when node_modules differs. Nothing is
// installed yet, so this is plain JavaScript without dependencies, for Node.js 20 or newer.
import { spawn } from 'node:child_process';
import { delimiter, join } from 'node:path';
import { installedNode, Obstacle, root } from './installation.mjs';

const [script, ...scriptArguments] = process.argv.slice(2);
if (script === undefined) {
  console.error('usage: node infra/run.mjs SCRIPT [ARGUMENT ...]');
  process.exit(2);
}

try {
  const node = installedNode();
  const path = [node.folder, join(root, 'node_modules', '.bin'), process.env.PATH].join(delimiter);
  // Child processes find the same Node.js, and the installed tools, on the PATH.
  run(node.path, { ...process.env, PATH: path });
} catch (error) {
  if (!(error instanceof Obstacle)) throw error;
  console.error(error.message);
  process.exitCode = 1;
}

function run(node, env) {
  const child = spawn(node, [join(root, script), ...scriptArguments], { cwd: root, stdio: 'inherit', env });
  // Ctrl-C reaches the child directly (same process group). Forwarding it as well is harmless: the child handles it
  // once.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  child.on('exit', (code, signal) => {
    process.exitCode = code ?? (signal === 'SIGINT' ? 130 : signal === 'SIGTERM' ? 143 : 1);
  });
  child.on('error', ({ message }) => {
    console.error(`${node} could not be started: ${message}`);
    process.exitCode = 1;
  });
}

import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startSimulatorProcess } from '../../infra/local/processes.ts';

// `npm run proof -- strangers`: foreign client libraries run their calls against the simulator and receive its
// webhooks. They are installed into a folder that is removed. Without `python3`, a line says that those in Python are
// left out.

/** A program in `strangers/` calls each library. */
const inPython: Readonly<Record<string, string>> = {
  'pywa==4.5.0': 'with-pywa.py',
  'facebook_business==26.0.3': 'with-facebook-business.py',
  'heyoo==0.1.2': 'with-heyoo.py',
};
const inJavaScript: Readonly<Record<string, string>> = {
  'whatsapp-api-js@6.3.0': 'with-whatsapp-api-js.mjs',
  '@kapso/whatsapp-cloud-api@0.3.0': 'with-kapso.mjs',
  '@great-detail/whatsapp@8.4.0': 'with-great-detail.mjs',
  'whatsapp-business@1.7.2': 'with-whatsapp-business.mjs',
};
/** pywa's server needs these. */
const serverOfPywa = ['fastapi==0.165.0', 'uvicorn==0.54.0'];

const folder = mkdtempSync(join(tmpdir(), 'strangers-'));
try {
  cpSync(join(import.meta.dirname, 'strangers'), folder, { recursive: true });
  await runAll(process.execPath, inJavaScript, installedByNpm());
  const hasPython = spawnSync('python3', ['--version']).status === 0;
  if (hasPython) await runAll(join(folder, 'python', 'bin', 'python'), inPython, installedByPip());
  else console.log(`left out, because there is no python3: ${Object.keys(inPython).join(', ')}`);
} finally {
  rmSync(folder, { recursive: true, force: true });
}

function installedByNpm(): boolean {
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ private: true, type: 'module' }));
  return isDone('npm', ['install', '--no-audit', '--no-fund', '--ignore-scripts', ...Object.keys(inJavaScript)]);
}

function installedByPip(): boolean {
  const packages = [...Object.keys(inPython), ...serverOfPywa];
  return (
    isDone('python3', ['-m', 'venv', 'python']) &&
    isDone(join(folder, 'python', 'bin', 'pip'), ['install', '--quiet', '--disable-pip-version-check', ...packages])
  );
}

function isDone(command: string, words: readonly string[]): boolean {
  const { status, stdout, stderr } = spawnSync(command, words, { cwd: folder, encoding: 'utf8' });
  if (status === 0) return true;
  console.log(`${[command, ...words].join(' ')} failed\n${stdout ?? ''}${stderr ?? ''}`);
  process.exitCode = 1;
  return false;
}

/** Each program has a simulator of its own, as `npm start` begins it, but for the callback of the local stack. */
async function runAll(command: string, programs: Readonly<Record<string, string>>, installed: boolean): Promise<void> {
  for (const [library, program] of installed ? Object.entries(programs) : []) {
    const simulator = await startSimulatorProcess(0);
    const child = spawn(command, [program], {
      cwd: folder,
      env: { ...process.env, SIMULATOR: simulator.endpoint },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const said: string[] = [];
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (part) => said.push(String(part)));
    const [status] = await once(child, 'close');
    await simulator.stop();
    const lines = said.join('').trim();
    console.log(`${library}: ${status === 0 ? lines.split('\n').at(-1) : `failed\n${lines}`}`);
    if (status !== 0) process.exitCode = 1;
  }
}

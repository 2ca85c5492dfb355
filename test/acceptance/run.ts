import { spawn } from 'node:child_process';
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { callersAccount } from '../../infra/operate/account.ts';
import { CommandError, callersPath, commandLine, runCommand } from '../../infra/operate/command.ts';
import { findLocalStack, localStacksFolder, runningLocalStack } from '../../infra/operate/local-stacks.ts';
import { auditOf } from '../../infra/operate/operator-audit.ts';
import { nameTarget, requireStage } from '../../infra/operate/target.ts';
import { ProvisioningUnderWay } from '../../lib/provisioning/provisioning-store.ts';
import { type AcceptanceTarget, targetOfRun } from './destination.ts';
import { assertNobodyProvisions, removeTestClients } from './test-clients.ts';

/** `infra/ops check --acceptance` starts this, and says what the options are. */
const usage = 'node test/acceptance/run.ts URL [--stage NAME | --stack FILE] [--clean]';

const root = resolve(import.meta.dirname, '..', '..');

/** Throws `CommandError` when the arguments name no deployment. */
async function destinationOf(
  apiUrl: string,
  { stage, stack }: { readonly stage?: string | undefined; readonly stack?: string | undefined },
): Promise<AcceptanceTarget> {
  if (stage !== undefined) {
    requireStage(stage);
    nameTarget({ stage, ...(await callersAccount()) });
    return { apiUrl, stage };
  }
  const { port } = new URL(apiUrl);
  const local = stack === undefined ? findLocalStack(localStacksFolder, port) : runningLocalStack(callersPath(stack));
  if (local === undefined || new URL(local.apiUrl).origin !== new URL(apiUrl).origin) {
    throw new CommandError(`No local stack runs at ${apiUrl}; for a deployed one name its --stage.`);
  }
  nameTarget(local);
  return { apiUrl, local };
}

async function answers(apiUrl: string): Promise<void> {
  const reply = await fetch(new URL('/health', apiUrl), { signal: AbortSignal.timeout(30_000) }).catch(() => undefined);
  if (reply?.status !== 200) {
    throw new CommandError(`Nothing was done: ${apiUrl}/health answers ${reply?.status ?? 'nothing'}.`, 1);
  }
}

async function runTests(destination: AcceptanceTarget): Promise<void> {
  const vitest = join(dirname(createRequire(import.meta.url).resolve('vitest/package.json')), 'vitest.mjs');
  const config = join(import.meta.dirname, 'vitest.config.ts');
  const child = spawn(process.execPath, [vitest, 'run', '--config', config], {
    cwd: root,
    stdio: 'inherit',
    env: { ...process.env, ACCEPTANCE: JSON.stringify(destination) },
  });
  process.exitCode = await new Promise<number>((resolveCode) => child.once('exit', (code) => resolveCode(code ?? 1)));
}

await runCommand(async () => {
  const { values, positionals } = commandLine({
    allowPositionals: true,
    options: {
      stage: { type: 'string' },
      stack: { type: 'string' },
      clean: { type: 'boolean', default: false },
    },
  });
  const [address] = positionals;
  if (address === undefined || positionals.length > 1 || !URL.canParse(address)) throw new CommandError(usage);
  const apiUrl = address.replace(/\/+$/, '');
  const destination = await destinationOf(apiUrl, values);
  await answers(apiUrl);
  const target = targetOfRun(destination);
  const audit = auditOf(target, destination.stage);
  try {
    await (values.clean
      ? audit('command.acceptance', { how: 'clean' }, () => removeTestClients(target))
      : assertNobodyProvisions(target));
  } catch (error) {
    if (!(error instanceof ProvisioningUnderWay)) throw error;
    throw new CommandError(`Nothing was done: ${error.message} until ${new Date(error.freeAtMs).toISOString()}.`, 1);
  }
  if (values.clean) console.log('The test clients are removed.');
  else await audit('command.acceptance', { how: 'run' }, () => runTests(destination));
});

import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { buildFunctions } from './build.ts';
import { stageDescription, stagePattern } from './names.ts';
import { callersAccount } from './operate/account.ts';
import { CommandError, runCommand } from './operate/command.ts';
import { deployInRounds, destinationOf, diffOfRound } from './operate/stage/deployment.ts';
import { protectionFor, statusesOf } from './operate/stage/stack-status.ts';
import { nameTarget } from './operate/target.ts';

// `npm run synth` and `npm run deploy` build the functions, then run the CDK command line with the given arguments:
// `npm run deploy -- -c stage=prod`. With `--diff` a deployment only shows what it would change in all stacks.
const commands = { synth: ['synth', '--quiet'], diff: ['diff'], deploy: ['deploy', '--all'] } as const;

const root = resolve(import.meta.dirname, '..');
const cdkDirectory = dirname(createRequire(import.meta.url).resolve('aws-cdk/package.json'));

/**
 * Without a region the CDK would take one that the operator did not name, so the destination is told before the build.
 */
async function destined(given: readonly string[]) {
  const file: { readonly context?: Readonly<Record<string, unknown>> } = JSON.parse(
    readFileSync(join(root, 'cdk.json'), 'utf8'),
  );
  const destination = destinationOf(given, file.context);
  const { stage, hasEdge, where } = destination;
  if (!stagePattern.test(stage)) throw new CommandError(`the context value stage must be ${stageDescription}`);
  nameTarget({ stage, ...(await callersAccount(where)) });
  const protection = async () => protectionFor(stage, await statusesOf(stage, { ...where, hasEdge }));
  return { destination, protection };
}

function build(): Promise<unknown> {
  return buildFunctions({ functionsDirectory: join(root, 'functions'), outputDirectory: join(root, 'dist') });
}

/** Resolves to the exit status of the CDK's own command. */
function commandLine(command: keyof typeof commands, given: readonly string[]): Promise<number> {
  const child = spawn(process.execPath, [join(cdkDirectory, 'bin', 'cdk'), ...commands[command], ...given], {
    cwd: root,
    stdio: 'inherit',
  });
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('exit', (code) => resolve(code ?? 1));
  });
}

async function statusOf(command: keyof typeof commands, given: readonly string[]): Promise<number> {
  const run = (args: readonly string[]) => commandLine(command, args);
  if (command === 'synth') {
    await build();
    return await run(given);
  }
  const { destination, protection } = await destined(given);
  if (command === 'diff') return await diffOfRound(given, destination, { protection, build, run });
  return await deployInRounds(given, destination, { protection, build, run, tell: console.error });
}

/** npm 10 and 11 leave options that stand without `--` in these variables: a lost `--diff` would deploy. */
const keptByNpm = ['diff', 'call', 'context', 'profile', 'region', 'stage'];

function refuseWhatNpmKept(): void {
  const kept = keptByNpm.find((name) => (process.env[`npm_config_${name}`] ?? '') !== '');
  if (kept === undefined) return;
  const script = process.env['npm_lifecycle_event'];
  throw new CommandError(
    `Nothing was done: npm keeps options without "--" before them; write npm run ${script} -- ...`,
  );
}

await runCommand(async () => {
  const [named, ...given] = process.argv.slice(2);
  if (named !== 'synth' && named !== 'deploy') {
    throw new CommandError('usage: node infra/cdk.ts synth|deploy [--diff] [ARGUMENT ...]');
  }
  refuseWhatNpmKept();
  const isDiff = named === 'deploy' && given.includes('--diff');
  process.exitCode = await statusOf(
    isDiff ? 'diff' : named,
    given.filter((word) => !isDiff || word !== '--diff'),
  );
});

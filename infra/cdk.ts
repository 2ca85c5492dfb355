import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { buildFunctions } from './build.ts';
import { stageDescription, stagePattern } from './names.ts';
import { callersAccount } from './operate/account.ts';
import { CommandError, runCommand, swallowed } from './operate/command.ts';
import { deployInRounds, destinationOf, diffOfRound } from './operate/deployment.ts';
import { lineWithSwallowedOptions, type TypedOption } from './operate/npm-options.ts';
import { protectionFor, statusesOf } from './operate/stack-status.ts';
import { nameTarget } from './operate/target.ts';

// `npm run synth`, `npm run diff` (all stacks) and `npm run deploy` build the functions, then run the CDK command line
// with the given arguments: `npm run deploy -- -c stage=prod`.
const commands = { synth: ['synth', '--quiet'], diff: ['diff'], deploy: ['deploy', '--all'] } as const;

const root = resolve(import.meta.dirname, '..');
const cdkDirectory = dirname(createRequire(import.meta.url).resolve('aws-cdk/package.json'));

const harmless = ['color', 'no-color', 'proxy', 'yes'];

interface CommandLineRegistry {
  readonly globalOptions: Readonly<Record<string, CommandLineOption>>;
  readonly commands: Readonly<Record<string, { readonly options?: Readonly<Record<string, CommandLineOption>> }>>;
}
interface CommandLineOption {
  readonly type: string;
  readonly alias?: string | readonly string[];
}

function optionsOf(command: keyof typeof commands): TypedOption[] {
  const file = join(cdkDirectory, 'lib', 'cli', 'cli-type-registry.json');
  const registry: CommandLineRegistry = JSON.parse(readFileSync(file, 'utf8'));
  return Object.entries({ ...registry.globalOptions, ...registry.commands[command]?.options })
    .filter(([name]) => !harmless.includes(name))
    .map(([name, { type, alias }]) => {
      const short = [alias].flat().find((each) => each?.length === 1);
      return { name, takesValue: type !== 'boolean' && type !== 'count', ...(short === undefined ? {} : { short }) };
    });
}

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

await runCommand(async () => {
  const [command, ...given] = process.argv.slice(2);
  if (command !== 'synth' && command !== 'diff' && command !== 'deploy') {
    throw new CommandError('usage: node infra/cdk.ts synth|diff|deploy [ARGUMENT ...]');
  }
  const line = lineWithSwallowedOptions(optionsOf(command), given);
  if (line !== undefined) throw new CommandError(swallowed(line));
  process.exitCode = await statusOf(command, given);
});

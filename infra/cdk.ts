import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { buildFunctions } from './build.ts';
import { stageDescription, stagePattern } from './names.ts';
import { callersAccount } from './operate/account.ts';
import { CommandError, runCommand, swallowed } from './operate/command.ts';
import { lineWithSwallowedOptions, type TypedOption } from './operate/npm-options.ts';
import { protectionFor, standingsOf } from './operate/stack-standing.ts';
import { nameTarget } from './operate/target.ts';

// `npm run synth`, `npm run diff` and `npm run deploy`: builds the functions, then hands over to the CDK command line, with
// the arguments given: `npm run deploy -- -c stage=prod -c alarmTopicArn=arn:...`. A diff is of all stacks.
const commands = { synth: ['synth', '--quiet'], diff: ['diff'], deploy: ['deploy', '--all'] } as const;

const root = resolve(import.meta.dirname, '..');
const cdkDirectory = dirname(createRequire(import.meta.url).resolve('aws-cdk/package.json'));

/** What npm and its users have in the environment anyway, and what changes nothing that is deployed. */
const harmless = ['color', 'no-color', 'proxy', 'yes'];

interface CommandLineRegistry {
  readonly globalOptions: Readonly<Record<string, CommandLineOption>>;
  readonly commands: Readonly<Record<string, { readonly options?: Readonly<Record<string, CommandLineOption>> }>>;
}
interface CommandLineOption {
  readonly type: string;
  readonly alias?: string | readonly string[];
}

/** The options of the CDK's own command, which it lists in a file. */
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

/** The arguments that tell where a deployment goes, read as the CDK reads them. */
function destinationOf(given: readonly string[]) {
  const { values } = parseArgs({
    args: [...given],
    strict: false,
    options: {
      context: { type: 'string', short: 'c', multiple: true },
      profile: { type: 'string' },
      region: { type: 'string' },
    },
  });
  const file: { readonly context?: Readonly<Record<string, unknown>> } = JSON.parse(
    readFileSync(join(root, 'cdk.json'), 'utf8'),
  );
  const contextValue = (name: string): unknown => {
    const pairs = (values.context ?? []).map(String).filter((pair) => pair.startsWith(`${name}=`));
    return pairs.at(-1)?.slice(`${name}=`.length) ?? file.context?.[name];
  };
  const { profile, region } = values;
  return {
    stage: String(contextValue('stage') ?? 'dev'),
    hasEdge: String(contextValue('edge')) === 'true',
    isProtectionChosen: contextValue('protected') !== undefined,
    where: {
      ...(typeof profile === 'string' ? { profile } : {}),
      ...(typeof region === 'string' ? { region } : {}),
    },
  };
}

/**
 * Deploys without protection from deletion what has never been made whole, and once more with it when that has
 * succeeded. Says where it goes before anything is built; without a region the CDK would take one that nobody named.
 */
async function deploy(given: readonly string[]): Promise<void> {
  const { protection, protectedNow } = await destined(given);
  await build();
  if (protectedNow === undefined) return commandLine('deploy', given);
  await commandLine('deploy', [...given, '-c', `protected=${protectedNow}`]);
  if (process.exitCode !== 0 || protectedNow === 'true' || (await protection()) !== 'true') return;
  console.error('All stacks are there; once more, to protect them from deletion.');
  await commandLine('deploy', [...given, '-c', 'protected=true']);
}

/** What `deploy` would change, as it would protect it now. Nothing is changed. */
async function diff(given: readonly string[]): Promise<void> {
  const { protectedNow } = await destined(given);
  await build();
  await commandLine('diff', protectedNow === undefined ? given : [...given, '-c', `protected=${protectedNow}`]);
}

/** Names the destination; `protectedNow` is undefined when the arguments say it themselves. */
async function destined(given: readonly string[]) {
  const { stage, hasEdge, isProtectionChosen, where } = destinationOf(given);
  if (!stagePattern.test(stage)) throw new CommandError(`the context value stage must be ${stageDescription}`);
  nameTarget({ stage, ...(await callersAccount(where)) });
  const protection = async () => protectionFor(stage, await standingsOf(stage, { ...where, hasEdge }));
  return { protection, protectedNow: isProtectionChosen ? undefined : await protection() };
}

function build(): Promise<unknown> {
  return buildFunctions({ functionsDirectory: join(root, 'functions'), outputDirectory: join(root, 'dist') });
}

/** Runs the CDK's own command; its exit status is ours. */
function commandLine(command: keyof typeof commands, given: readonly string[]): Promise<void> {
  const child = spawn(process.execPath, [join(cdkDirectory, 'bin', 'cdk'), ...commands[command], ...given], {
    cwd: root,
    stdio: 'inherit',
  });
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('exit', (code) => {
      process.exitCode = code ?? 1;
      resolve();
    });
  });
}

await runCommand(async () => {
  const [command, ...given] = process.argv.slice(2);
  if (command !== 'synth' && command !== 'diff' && command !== 'deploy') {
    throw new CommandError('usage: node infra/cdk.ts synth|diff|deploy [ARGUMENT ...]');
  }
  const line = lineWithSwallowedOptions(optionsOf(command), given);
  if (line !== undefined) throw new CommandError(swallowed(line));
  if (command === 'deploy') return deploy(given);
  if (command === 'diff') return diff(given);
  await build();
  await commandLine(command, given);
});

import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { buildFunctions } from './build.ts';
import { callersAccount } from './operate/account.ts';
import { CommandError, runCommand, swallowed } from './operate/command.ts';
import { lineWithSwallowedOptions, type TypedOption } from './operate/npm-options.ts';
import { nameTarget } from './operate/target.ts';

// `npm run synth` and `npm run deploy`: builds the functions, then hands over to the CDK command line, with the
// arguments given: `npm run deploy -- -c stage=prod -c alarmTopicArn=arn:...`.
const commands = { synth: ['synth', '--quiet'], deploy: ['deploy', '--all'] } as const;

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
  const file: { readonly context?: { readonly stage?: string } } = JSON.parse(
    readFileSync(join(root, 'cdk.json'), 'utf8'),
  );
  const stages = (values.context ?? []).map(String).filter((pair) => pair.startsWith('stage='));
  const stage = stages.at(-1)?.slice('stage='.length) ?? file.context?.stage ?? 'dev';
  const text = (value: string | boolean | undefined) => (typeof value === 'string' ? value : undefined);
  return { stage, profile: text(values.profile), region: text(values.region) };
}

/** Says where it goes before anything is built; without a region the CDK would take one that nobody named. */
async function nameDestination(given: readonly string[]): Promise<void> {
  const { stage, profile, region } = destinationOf(given);
  const chosen = { ...(profile === undefined ? {} : { profile }), ...(region === undefined ? {} : { region }) };
  nameTarget({ stage, ...(await callersAccount(chosen)) });
}

await runCommand(async () => {
  const [command, ...given] = process.argv.slice(2);
  if (command !== 'synth' && command !== 'deploy') {
    throw new CommandError('usage: node infra/cdk.ts synth|deploy [ARGUMENT ...]');
  }
  const line = lineWithSwallowedOptions(optionsOf(command), given);
  if (line !== undefined) throw new CommandError(swallowed(line));
  if (command === 'deploy') await nameDestination(given);
  await buildFunctions({ functionsDirectory: join(root, 'functions'), outputDirectory: join(root, 'dist') });
  const child = spawn(process.execPath, [join(cdkDirectory, 'bin', 'cdk'), ...commands[command], ...given], {
    cwd: root,
    stdio: 'inherit',
  });
  child.on('exit', (code) => {
    process.exitCode = code ?? 1;
  });
});

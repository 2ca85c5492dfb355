import { spawnSync } from 'node:child_process';
import { mkdirSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { CommandError } from '../../command.ts';
import { statusOf } from '../stack-status.ts';
import { fitToEmulator } from './assembly.ts';
import { emulatedAccount, emulatedRegion, emulatorFolder, ran } from './ministack.ts';

export const emulatedStage = 'try';

const root = resolve(import.meta.dirname, '../../../..');
const unasked = ['--require-approval', 'never', '--progress', 'events'];

export interface Version {
  readonly name: string;
  /** The folder has the version's dependencies installed once it is synthesized. */
  readonly folder: string;
  readonly assembly: string;
}

/**
 * Synthesizes the project by its own scripts, and removes from the copy what the emulator refuses. A commit is unpacked
 * beside this checkout with its own lock file; without one it is the working tree.
 */
export function versionOf(platformUrl: string, commit?: string): Version {
  const name = commit === undefined ? 'this' : commit.slice(0, 12);
  const folder = commit === undefined ? root : unpacked(commit);
  const assembly = join(emulatorFolder, `cdk.out-${name}`);
  rmSync(assembly, { recursive: true, force: true });
  const context = [`stage=${emulatedStage}`, 'canary=false', 'protected=stateful', `platformBaseUrl=${platformUrl}`];
  const words = context.flatMap((value) => ['-c', value]);
  ran(process.execPath, ['infra/run.mjs', 'infra/cdk.ts', 'synth', '--output', assembly, ...words], { folder });
  fitToEmulator(assembly);
  return { name, folder, assembly };
}

/**
 * Returns the commit that a name of git means. Throws a `CommandError` where there is none, as in a copy without
 * history.
 */
export function commitOf(name: string): string {
  const { status, stdout } = spawnSync('git', ['rev-parse', '--verify', '--quiet', `${name}^{commit}`], { cwd: root });
  if (status !== 0) throw new CommandError(`git knows no commit ${name} here: name another one by --from`, 1);
  return stdout.toString().trim();
}

/** Returns the folder where a commit is unpacked, beside this checkout. */
export function unpacked(commit: string): string {
  const folder = join(emulatorFolder, `older-${commit}`);
  const archive = join(emulatorFolder, 'older.tar');
  mkdirSync(folder, { recursive: true });
  ran('git', ['archive', '--output', archive, commit]);
  ran('tar', ['-xf', archive, '-C', folder]);
  return folder;
}

/** Makes the emulator's account ready for the CDK. */
export function bootstrap(aws: NodeJS.ProcessEnv): void {
  ran('cdk', ['bootstrap', `aws://${emulatedAccount}/${emulatedRegion}`], { environment: aws });
}

/** Deploys both stacks: creates what is missing and updates the rest, forward and back alike. */
export function deploy({ assembly }: Version, aws: NodeJS.ProcessEnv): void {
  ran('cdk', ['deploy', '--app', assembly, '--all', ...unasked], { environment: aws });
}

/** Deletes the stateless stack, as RECOVERY.md has it. */
export function removeStateless({ assembly }: Version, aws: NodeJS.ProcessEnv): void {
  ran('cdk', ['destroy', '--app', assembly, 'Stateless', '--exclusively', '--force'], { environment: aws });
}

/**
 * Returns where the emulator, whose services share one port, serves the deployed API. It asks CloudFormation with the
 * credentials of this process.
 */
export async function addressOfApi(endpoint: string): Promise<string> {
  const url = (await statusOf(emulatedStage, 'stateless'))?.apiUrl;
  if (url === undefined) throw new CommandError('the stateless stack has no output ApiUrl', 1);
  return `${endpoint}/_aws/execute-api/${new URL(url).hostname.split('.')[0]}/$default`;
}

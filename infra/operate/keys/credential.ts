import { randomUUID } from 'node:crypto';
import { text as textOf } from 'node:stream/consumers';
import * as v from 'valibot';
import { directoryStore } from '../../../lib/access/directory-store.ts';
import { PlatformFailure } from '../../../lib/platform/failure.ts';
import type { PlatformTransport } from '../../../lib/platform/transport.ts';
import { subscribedApps } from '../../../lib/provisioning/platform-subscriptions.ts';
import { accessTokenSchema } from '../../../lib/provisioning/provisioning-file.ts';
import { ProvisioningUnderWay, provisioningStore } from '../../../lib/provisioning/provisioning-store.ts';
import {
  type Command,
  CommandError,
  type CommandWords,
  commandLine,
  helpOption,
  stageOption,
  WouldChange,
  yesOption,
} from '../command.ts';
import { helpOf } from '../help.ts';
import { auditOf, type OperatorAudit } from '../operator-audit.ts';
import { assertRoom, readCredentials, writeCredentials } from '../stored-credentials.ts';
import { platformOf, type Target, targetOf } from '../target.ts';

const options = {
  token: { type: 'string', value: '-', about: 'the one line on the standard input; nothing else is taken' },
  unchecked: {
    type: 'boolean',
    default: false,
    about: 'does not ask the platform, for a time when that does not answer',
  },
  yes: { ...yesOption, about: 'really; else it says what would be written, and ends with 3 when that is a new token' },
  stage: stageOption,
  help: helpOption,
} as const;

const words: CommandWords = {
  lines: ['credential WABA --token - [--yes]'],
  about: `Gives a WABA another access token, without the file that has everybody's. The token is read from the standard
input, so that neither a shell nor a list of processes has it. Every WABA that shares the credential gets it, too; they
are named. The platform is asked with it first, and a token that it refuses for any of them is not written.

Functions use the new one within five minutes; what waits for it is sent by itself. A provisioning file that still has
the old token writes that back with its next run: change it there, or leave the credential out of it.`,
  options,
};

export interface CredentialAt {
  readonly target: Target;
  readonly platform: PlatformTransport;
  readonly audit: OperatorAudit;
}

interface Surroundings {
  readonly print: (line: string) => void;
  readonly readInput: () => Promise<string>;
  readonly nowMs: () => number;
}

/**
 * Runs one command line. Throws `CommandError` before any write: status 2 for wrong usage, 1 for an unknown WABA, a
 * refused token, or a running provisioning.
 */
export async function credentialCommand(
  typed: readonly string[],
  open: (stage: string | undefined) => CredentialAt | Promise<CredentialAt>,
  { print, readInput, nowMs }: Surroundings,
): Promise<void> {
  const { values, positionals } = commandLine({ args: [...typed], options, allowPositionals: true });
  const [wabaId, ...surplus] = positionals;
  if (wabaId === undefined || surplus.length > 0) throw new CommandError(helpOf(words));
  if (values.token !== '-') {
    throw new CommandError('--token takes - alone: the token is read from the standard input, where no shell keeps it');
  }
  const accessToken = tokenIn(await readInput());
  const { target, platform, audit } = await open(values.stage);
  const { name, wabaIds } = await credentialOf(wabaId, target);
  if (!values.unchecked) await check(wabaIds, { platform, accessToken });
  const { known } = await knownCredential(name, target);
  const same = `credential ${name}: that is the token that it has`;
  if (!values.yes) {
    if (known.accessToken === accessToken) return print(same);
    const taken = values.unchecked ? '' : '; the platform takes it for each';
    print(`credential ${name} would get the token: WABA ${wabaIds.join(', ')}${taken}`);
    throw new WouldChange('nothing was written: repeat with --yes');
  }
  const isNew = await audit('command.credential', { wabaId, credential: name }, () =>
    write({ name, accessToken }, target, nowMs),
  );
  if (!isNew) return print(same);
  print(`credential ${name} has the new token: WABA ${wabaIds.join(', ')}`);
  print('functions use it within five minutes; a provisioning file that has the old one would write that back');
}

/** Valibot's own messages would quote the value. */
function tokenIn(input: string): string {
  const token = input.trim();
  if (/\s/.test(token)) throw new CommandError('Nothing was written: the standard input has more than one word.');
  const parsed = v.safeParse(accessTokenSchema, token);
  if (!parsed.success) throw new CommandError(`Nothing was written: ${parsed.issues[0].message}.`);
  return parsed.output;
}

/** Returns the credential of a WABA, and all WABAs that use it. */
async function credentialOf(
  wabaId: string,
  { documentClient, tableName }: Target,
): Promise<{ readonly name: string; readonly wabaIds: readonly string[] }> {
  const directory = directoryStore(documentClient, tableName('directory'));
  const wabas = (await Promise.all((await directory.listClientIds()).map(directory.listWabas))).flat();
  const name = wabas.find((waba) => waba.wabaId === wabaId)?.credential;
  if (name === undefined) throw new CommandError(`There is no WABA ${wabaId}: infra/ops provision makes one.`, 1);
  const sharing = wabas.filter(({ credential }) => credential === name).map((waba) => waba.wabaId);
  return { name, wabaIds: [...new Set(sharing)].sort() };
}

/** Reads with the token what the service needs of each WABA. */
async function check(
  wabaIds: readonly string[],
  { platform, accessToken }: { readonly platform: PlatformTransport; readonly accessToken: string },
): Promise<void> {
  for (const wabaId of wabaIds) {
    try {
      await subscribedApps(platform, wabaId, accessToken);
    } catch (error) {
      if (!(error instanceof PlatformFailure)) throw error;
      const what =
        error.kind === 'refused'
          ? 'the platform refuses the token'
          : 'the platform gave no answer (--unchecked does not ask)';
      throw new CommandError(`Nothing was written: ${what} for WABA ${wabaId}: ${error.message}`, 1);
    }
  }
}

/**
 * Writes under the provisioning lock, because secrets have no conditional writes. Returns false when the credential has
 * this token already.
 */
async function write(
  { name, accessToken }: { readonly name: string; readonly accessToken: string },
  target: Target,
  nowMs: () => number,
): Promise<boolean> {
  const { documentClient, tableName } = target;
  const run = await provisioningStore({ documentClient, tableName, nowMs }).begin(randomUUID()).catch(explained);
  try {
    const { credentials, grouped, known } = await knownCredential(name, target);
    if (known.accessToken === accessToken) return false;
    const changed = { ...credentials, [name]: { ...known, accessToken } };
    assertRoom(changed, grouped);
    await writeCredentials(target, changed, { grouped, renew: () => run.renew() });
    return true;
  } finally {
    await run.end();
  }
}

/** Throws `CommandError` for a credential that was never provisioned. */
async function knownCredential(name: string, target: Target) {
  const { credentials, grouped } = await readCredentials(target);
  const known = credentials[name];
  if (known !== undefined) return { credentials, grouped, known };
  throw new CommandError(`There is no credential ${name} yet: provision it once, with the id of its app.`, 1);
}

function explained(error: unknown): never {
  if (!(error instanceof ProvisioningUnderWay)) throw error;
  const free = new Date(error.freeAtMs).toISOString();
  throw new CommandError(`Nothing was written: ${error.message}. Should it have died, the way is free at ${free}.`, 1);
}

export const command: Command = {
  words,
  run: (typed) =>
    credentialCommand(
      typed,
      async (stage) => {
        const target = await targetOf(stage);
        return { target, platform: platformOf(stage), audit: auditOf(target, stage) };
      },
      { print: console.log, readInput: () => textOf(process.stdin), nowMs: Date.now },
    ),
};

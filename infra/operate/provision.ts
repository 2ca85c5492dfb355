import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import * as v from 'valibot';
import { credentialStore } from '../../lib/access/credential-store.ts';
import { hashPassword, isOutdated, saltBytes, verifyPassword } from '../../lib/access/password.ts';
import { provisionedItems, userIdOf } from '../../lib/access/provisioned-items.ts';
import { ProvisioningFaults, type ProvisioningFile, provisioningFile } from '../../lib/access/provisioning.ts';
import { provisioningStore } from '../../lib/access/provisioning-store.ts';
import { CommandError, runCommand } from './command.ts';
import { ensureSealingKeys } from './sealing-keys.ts';
import { type Target, targetOf } from './target.ts';
import { ensureTokenKeys } from './token-keys.ts';

const usage = `usage: npm run provision -- FILE [--stage NAME]

Loads clients, users, WABAs, channels, campaigns and platform credentials from a JSON file: into the deployed stage NAME,
or without --stage into the local stack that is running. The file is judged as a whole before anything is written, and
running it again changes nothing. The file describes everything there is; what has been taken out of it is not
removed from the service yet.`;

/** What a run has done, by kind. Never a secret. */
export interface ProvisioningReport {
  readonly counts: Readonly<Record<'clients' | 'wabas' | 'channels' | 'campaigns' | 'users', number>>;
  readonly passwordsHashed: number;
  readonly platformCredentialsChanged: number;
  readonly tokenKeysCreated: boolean;
  readonly sealingKeysCreated: boolean;
}

/** Provisions from a file of JSON. Throws `CommandError` when it cannot be read, or naming every fault in it. */
export async function provisionFile(path: string, target: Target): Promise<ProvisioningReport> {
  const text = readText(path);
  try {
    return await provision(JSON.parse(text), target);
  } catch (error) {
    if (error instanceof ProvisioningFaults) {
      throw new CommandError(`Nothing was written: ${path} has ${error.faults.length} faults.\n${error.message}`, 1);
    }
    if (error instanceof SyntaxError) throw new CommandError(`Nothing was written: ${path} is not JSON.`);
    throw error;
  }
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new CommandError(code === 'ENOENT' ? `There is no file ${path}.` : `${path} cannot be read (${code}).`);
  }
}

/** Provisions from data (D36). Throws `ProvisioningFaults` before anything is written. */
export async function provision(data: unknown, target: Target, nowMs = Date.now()): Promise<ProvisioningReport> {
  const stored = await readPlatformCredentials(target);
  const file = provisioningFile(data, Object.keys(stored));

  // What others need comes first: a user can log in only once the client, the keys and the profile are there.
  const platformCredentialsChanged = await writePlatformCredentials(target, stored, file);
  const tokenKeysCreated = await ensureTokenKeys(target, Math.floor(nowMs / 1000));
  const sealingKeysCreated = await ensureSealingKeys(target, Math.floor(nowMs / 1000));
  const write = provisioningStore(target.documentClient, target.tableName('directory'));
  for (const item of provisionedItems(file, new Date(nowMs).toISOString())) await write(item);
  const passwordsHashed = await writeCredentials(target, file);

  const { clients, wabas, channels, campaigns, users } = file;
  return {
    counts: {
      clients: clients.length,
      wabas: wabas.length,
      channels: channels.length,
      campaigns: campaigns.length,
      users: users.length,
    },
    passwordsHashed,
    platformCredentialsChanged,
    tokenKeysCreated,
    sealingKeysCreated,
  };
}

/** Returns how many passwords had to be hashed: those that the stored hash does not already belong to. */
async function writeCredentials(target: Target, file: ProvisioningFile): Promise<number> {
  const credentials = credentialStore(target.documentClient, target.tableName('credentials'));
  let hashed = 0;
  for (const { username, client_id: clientId, password, password_hash } of file.users) {
    const storedHash = (await credentials.find(username))?.passwordHash;
    let passwordHash = password_hash ?? storedHash;
    if (password !== undefined && !(await isUnchanged(password, storedHash))) {
      passwordHash = await hashPassword(password, randomBytes(saltBytes));
      hashed += 1;
    }
    if (passwordHash === undefined) throw new Error('a user without password passed validation');
    await credentials.put(username, { passwordHash, userId: userIdOf(username), clientId });
  }
  return hashed;
}

async function isUnchanged(password: string, storedHash: string | undefined): Promise<boolean> {
  return storedHash !== undefined && !isOutdated(storedHash) && (await verifyPassword(password, storedHash));
}

const PlatformCredentialsSchema = v.record(v.string(), v.object({ accessToken: v.string(), appId: v.string() }));

type PlatformCredentials = v.InferOutput<typeof PlatformCredentialsSchema>;

/** The credentials in the secret; none when nothing has been written to it yet. */
async function readPlatformCredentials(target: Target): Promise<PlatformCredentials> {
  const text = await target.secrets.read(target.secretName('PLATFORM_CREDENTIALS_SECRET'));
  return text === undefined ? {} : v.parse(PlatformCredentialsSchema, JSON.parse(text));
}

/** Merges the file's platform credentials into the secret; returns how many are new or different. */
async function writePlatformCredentials(
  target: Target,
  stored: PlatformCredentials,
  file: ProvisioningFile,
): Promise<number> {
  const changed = file.platform_credentials.filter(({ name, access_token, app_id }) => {
    const before = stored[name];
    return before?.accessToken !== access_token || before.appId !== app_id;
  });
  if (changed.length === 0) return 0;
  const merged = { ...stored };
  for (const { name, access_token, app_id } of changed) merged[name] = { accessToken: access_token, appId: app_id };
  await target.secrets.write(target.secretName('PLATFORM_CREDENTIALS_SECRET'), JSON.stringify(merged));
  return changed.length;
}

/** The report as lines for a terminal. */
export function describeReport(report: ProvisioningReport): string {
  const { clients, wabas, channels, campaigns, users } = report.counts;
  return [
    `${clients} clients, ${wabas} WABAs, ${channels} channels, ${campaigns} campaigns, ${users} users are provisioned`,
    `${report.passwordsHashed} passwords hashed, ${report.platformCredentialsChanged} platform credentials changed`,
    `token keys: ${report.tokenKeysCreated ? 'created' : 'already there'}`,
    `sealing keys: ${report.sealingKeysCreated ? 'created' : 'already there'}`,
    'not removed: anything earlier files had and this one has not',
  ].join('\n');
}

if (import.meta.main) {
  await runCommand(async () => {
    const { values, positionals } = parseArgs({
      allowPositionals: true,
      options: { stage: { type: 'string' }, help: { type: 'boolean', short: 'h' } },
    });
    const [path] = positionals;
    if (values.help) return console.log(usage);
    if (path === undefined || positionals.length > 1) throw new CommandError(usage);
    console.log(describeReport(await provisionFile(path, targetOf(values.stage))));
  });
}

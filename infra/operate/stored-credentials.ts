import {
  credentialSecrets,
  groupCount,
  groupCredentials,
  groupSuffix,
  type PlatformCredentials,
  storedCredentials,
} from '../../lib/platform/credential-groups.ts';
import { CommandError } from './command.ts';
import { parsedSecret } from './parsed-secret.ts';
import type { Target } from './target.ts';

/** A stage has its platform credentials in one secret, or in one for each group. */
export interface StoredCredentials {
  readonly credentials: PlatformCredentials;
  readonly grouped: boolean;
}

/** Reads the credentials; empty before the first write. Throws `UnreadableSecret`. */
export async function readCredentials(target: Target): Promise<StoredCredentials> {
  const text = (await target.secrets.read(nameOf(target))) ?? '{}';
  const secret = (suffix: string) => ({ name: `${nameOf(target)}${suffix}`, holds: 'platform credential' }) as const;
  const stored = parsedSecret(secret(''), () => storedCredentials(text));
  if (stored !== 'grouped') return { credentials: stored, grouped: false };
  const credentials: Record<string, PlatformCredentials[string]> = {};
  for (const [group, some] of await groupTexts(target)) {
    Object.assign(
      credentials,
      parsedSecret(secret(groupSuffix(group)), () => groupCredentials(some)),
    );
  }
  return { credentials, grouped: true };
}

/** Throws `CommandError` for more credentials than fit. */
export function assertRoom(credentials: PlatformCredentials, grouped: boolean): void {
  try {
    credentialSecrets(credentials, { grouped, written: new Set() });
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new CommandError(`Nothing was written: ${error.message}; provision fewer, or give WABAs one in common.`, 1);
  }
}

/** Writes the credentials and calls `renew` before each secret. It also clears what a dead run left in a group. */
export async function writeCredentials(
  target: Target,
  credentials: PlatformCredentials,
  { grouped, renew }: { readonly grouped: boolean; readonly renew: () => Promise<void> },
): Promise<void> {
  const isSplit = credentialSecrets(credentials, { grouped, written: new Set() }).length > 1 || grouped;
  const groups = isSplit ? await groupTexts(target) : new Map<number, string>();
  const before = new Map([...groups].map(([group, text]) => [groupSuffix(group), text]));
  for (const { suffix, text } of credentialSecrets(credentials, { grouped, written: new Set(groups.keys()) })) {
    if (before.get(suffix) === text) continue;
    await renew();
    await target.secrets[suffix === '' ? 'write' : 'writeOwn'](`${nameOf(target)}${suffix}`, text);
  }
}

async function groupTexts(target: Target): Promise<ReadonlyMap<number, string>> {
  const texts = new Map<number, string>();
  await Promise.all(
    Array.from({ length: groupCount }, async (_, group) => {
      const text = await target.secrets.read(`${nameOf(target)}${groupSuffix(group)}`);
      if (text !== undefined) texts.set(group, text);
    }),
  );
  return texts;
}

function nameOf({ secretName }: Target): string {
  return secretName('PLATFORM_CREDENTIALS_SECRET');
}

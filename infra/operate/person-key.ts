import { randomBytes } from 'node:crypto';
import { batchGet } from '../../lib/aws/dynamodb-batch.ts';
import { tableOf } from '../../lib/aws/table.ts';
import { markKey } from '../../lib/opt-outs/opt-out-items.ts';
import { personKey, personKeyBytes, personKeyText } from '../../lib/opt-outs/person-key.ts';
import type { Scope } from '../../lib/opt-outs/scope.ts';
import { CommandError } from './command.ts';
import type { Target } from './target.ts';
import type { PlannedKeys } from './token-keys.ts';

type SecretsOfTarget = Pick<Target, 'secrets' | 'secretName'>;

/**
 * Plans the key that names people (D55, D60), written only once. `scopes` may contain opt-outs. Throws for an unusable
 * key, and for a missing key with opt-outs, because no stop is found under a new key.
 */
export async function plannedPersonKey(
  target: SecretsOfTarget & Pick<Target, 'documentClient' | 'tableName'>,
  scopes: readonly Scope[],
): Promise<PlannedKeys> {
  const missing = (await readPersonKey(target)) === undefined;
  if (missing) await assertNobodyStopped(target, scopes);
  return {
    missing,
    write: () => target.secrets.write(nameIn(target), personKeyText(randomBytes(personKeyBytes))),
  };
}

async function assertNobodyStopped(
  { documentClient, tableName }: Pick<Target, 'documentClient' | 'tableName'>,
  scopes: readonly Scope[],
): Promise<void> {
  const messages = tableOf(documentClient, tableName('messages'));
  const marks = await batchGet(messages, scopes.map(markKey), { consistent: true });
  if (marks.length === 0) return;
  throw new CommandError(
    'Nothing was written: the key of people is gone, and people who have stopped are kept under it. Restore it (infra/RECOVERY.md).',
    1,
  );
}

export async function readPersonKey(target: SecretsOfTarget): Promise<Uint8Array | undefined> {
  const text = await target.secrets.read(nameIn(target));
  return text === undefined ? undefined : personKey(text);
}

function nameIn({ secretName }: SecretsOfTarget): string {
  return secretName('PERSON_KEY_SECRET');
}

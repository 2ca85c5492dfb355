import { randomBytes } from 'node:crypto';
import { personKey, personKeyBytes, personKeyText } from '../../lib/opt-outs/person-key.ts';
import type { Target } from './target.ts';
import type { PlannedKeys } from './token-keys.ts';

type SecretsOfTarget = Pick<Target, 'secrets' | 'secretName'>;

/** The key that names people (D55, D60): written once, and never again. Throws where what is stored is not usable. */
export async function plannedPersonKey(target: SecretsOfTarget): Promise<PlannedKeys> {
  const missing = (await readPersonKey(target)) === undefined;
  return {
    missing,
    write: () => target.secrets.write(nameIn(target), personKeyText(randomBytes(personKeyBytes))),
  };
}

/** Undefined before the first provisioning. */
export async function readPersonKey(target: SecretsOfTarget): Promise<Uint8Array | undefined> {
  const text = await target.secrets.read(nameIn(target));
  return text === undefined ? undefined : personKey(text);
}

function nameIn({ secretName }: SecretsOfTarget): string {
  return secretName('PERSON_KEY_SECRET');
}

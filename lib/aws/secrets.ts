import { GetSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';

/** Reads a secret's current text. */
export type ReadSecret = (secretId: string) => Promise<string>;

/** Reads secrets from Secrets Manager, each attempt cut after 3 s. Throws when the secret has no text. */
export function secretReader(
  client: SecretsManagerClient = new SecretsManagerClient({
    maxAttempts: 3,
    requestHandler: { connectionTimeout: 1_000, requestTimeout: 3_000, throwOnRequestTimeout: true },
  }),
): ReadSecret {
  return async (secretId) => {
    const { SecretString } = await client.send(new GetSecretValueCommand({ SecretId: secretId }));
    if (SecretString === undefined) throw new Error(`secret ${secretId} holds no text`);
    return SecretString;
  };
}

/** Keeps a value read from a secret for `maxAgeMs`; a failed reading is not kept, so the next call tries again. */
export function keptFor<T>(maxAgeMs: number, nowMs: () => number, read: () => Promise<T>): () => Promise<T> {
  let kept: { readonly readAtMs: number; readonly value: Promise<T> } | undefined;
  return () => {
    if (kept !== undefined && nowMs() - kept.readAtMs < maxAgeMs) return kept.value;
    const reading = { readAtMs: nowMs(), value: read() };
    kept = reading;
    reading.value.catch(() => {
      if (kept === reading) kept = undefined;
    });
    return reading.value;
  };
}

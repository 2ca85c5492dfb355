import * as v from 'valibot';
import { keptFor, type ReadSecret } from '../aws/secrets.ts';

const CredentialsSchema = v.record(v.string(), v.object({ accessToken: v.string(), appId: v.string() }));

export function platformCredentials(
  readSecret: ReadSecret,
  secretId: string,
  nowMs: () => number,
): (name: string) => Promise<{ accessToken: string; appId: string }> {
  const all = keptFor(60_000, nowMs, async () => v.parse(CredentialsSchema, JSON.parse(await readSecret(secretId))));
  return async (name) => {
    const credential = (await all())[name];
    if (credential === undefined) throw new Error('no such platform credential');
    return credential;
  };
}

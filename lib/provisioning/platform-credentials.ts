import * as v from 'valibot';
import { plainObject } from '../http/closed-object.ts';
import type { ProvisioningFile } from './provisioning-file.ts';

/** The secret with the platform's tokens, by the name that WABAs refer to. */
export const PlatformCredentialsSchema = v.pipe(
  plainObject,
  v.record(v.string(), v.object({ accessToken: v.string(), appId: v.string() })),
);

export type PlatformCredentials = v.InferOutput<typeof PlatformCredentialsSchema>;

/** The file's credentials, and of the stored ones those that a WABA of the file still names (D36). */
export function wantedPlatformCredentials(stored: PlatformCredentials, file: ProvisioningFile): PlatformCredentials {
  const named = new Set(file.wabas.map(({ credential }) => credential));
  const kept = Object.entries(stored).filter(([name]) => named.has(name));
  const given = file.platform_credentials.map(
    ({ name, access_token: accessToken, app_id: appId }) => [name, { accessToken, appId }] as const,
  );
  return Object.fromEntries([...kept, ...given]);
}

import type { PlatformCredentials } from '../platform/credential-groups.ts';
import type { ProvisioningFile } from './provisioning-file.ts';

/** Returns the file's credentials, with the stored ones that a WABA of the file still names (D36). */
export function desiredPlatformCredentials(stored: PlatformCredentials, file: ProvisioningFile): PlatformCredentials {
  const named = new Set(file.wabas.map(({ credential }) => credential));
  const kept = Object.entries(stored).filter(([name]) => named.has(name));
  const given = file.platform_credentials.map(
    ({ name, access_token: accessToken, app_id: appId }) => [name, { accessToken, appId }] as const,
  );
  return Object.fromEntries([...kept, ...given]);
}

import { omitUndefined } from '../keys/omit-undefined.ts';
import type { PlatformApps } from '../platform/webhook/apps.ts';
import type { ProvisioningFile } from './provisioning-file.ts';

/** Returns the apps as their secret holds them. Writing it replaces all apps (D36, D38). */
export function desiredPlatformApps({ platform_apps: apps }: ProvisioningFile): PlatformApps {
  return Object.fromEntries(
    apps.map(({ id, app_secret: appSecret, previous_app_secret, verify_token: verifyToken, wabas }) => [
      id,
      { appSecret, ...omitUndefined({ previousAppSecret: previous_app_secret }), verifyToken, wabas: wabas.toSorted() },
    ]),
  );
}

export function appOfWaba({ platform_apps: apps }: ProvisioningFile, wabaId: string): string | undefined {
  return apps.find(({ wabas }) => wabas.includes(wabaId))?.id;
}

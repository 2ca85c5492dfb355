import { secretText } from '../../aws/deployed.ts';
import { cachedFor } from '../../aws/secrets.ts';
import { errorName } from '../../observe/error-name.ts';
import { type PlatformApp, platformApps } from './apps.ts';

const keptForMs = 300_000;

export type ReadPlatformApps = () => Promise<readonly PlatformApp[]>;

/** Reads the apps of this deployment. A secret that was never written means no apps, so every call is refused. */
export function deployedPlatformApps(): ReadPlatformApps {
  const text = secretText('PLATFORM_APPS_SECRET');
  return cachedFor(keptForMs, Date.now, async () => {
    try {
      return platformApps(await text());
    } catch (error) {
      if (errorName(error) === 'ResourceNotFoundException') return [];
      throw error;
    }
  });
}

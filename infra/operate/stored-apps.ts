import * as v from 'valibot';
import { type PlatformApps, PlatformAppsSchema } from '../../lib/platform/webhook/apps.ts';
import { parsedSecret } from './parsed-secret.ts';
import type { Target } from './target.ts';

/** Reads the platform apps of a stage; empty before the first write. Throws `UnreadableSecret`. */
export async function readApps({ secrets, secretName }: Target): Promise<PlatformApps> {
  const name = secretName('PLATFORM_APPS_SECRET');
  const text = (await secrets.read(name)) ?? '{}';
  return parsedSecret({ name, holds: 'platform app' }, () => v.parse(PlatformAppsSchema, JSON.parse(text)));
}

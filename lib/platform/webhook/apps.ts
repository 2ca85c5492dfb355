import * as v from 'valibot';
import { plainObject } from '../../http/closed-object.ts';

/** The secret with the platform's apps, by their ids: who may tell us what happened, and of which WABAs (D38). */
export const PlatformAppsSchema = v.pipe(
  plainObject,
  v.record(
    v.string(),
    v.object({
      appSecret: v.string(),
      /** Valid beside the other while a secret is being changed. */
      previousAppSecret: v.exactOptional(v.string()),
      verifyToken: v.string(),
      wabas: v.array(v.string()),
    }),
  ),
);
export type PlatformApps = v.InferOutput<typeof PlatformAppsSchema>;

/** An app of the platform, as the receiver of its webhooks needs it. */
export interface PlatformApp {
  readonly appId: string;
  readonly secrets: readonly string[];
  readonly verifyToken: string;
  readonly wabas: ReadonlySet<string>;
}

/** The apps of the secret's text. Throws without a word of it: parsers quote what they read. */
export function platformApps(text: string): PlatformApp[] {
  const apps = v.safeParse(PlatformAppsSchema, parsedOrUndefined(text));
  if (!apps.success) throw new Error('the secret holds no platform apps that can be read');
  return Object.entries(apps.output).map(([appId, { appSecret, previousAppSecret, verifyToken, wabas }]) => ({
    appId,
    secrets: previousAppSecret === undefined ? [appSecret] : [appSecret, previousAppSecret],
    verifyToken,
    wabas: new Set(wabas),
  }));
}

function parsedOrUndefined(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

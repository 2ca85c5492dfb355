import * as v from 'valibot';
import { plainObject } from '../../http/closed-object.ts';

/** The secret has the platform's apps by id: which may call the webhook, and for which WABAs (D38). */
export const PlatformAppsSchema = v.pipe(
  plainObject,
  v.record(
    v.string(),
    v.object({
      appSecret: v.string(),
      /** The secret is valid beside `appSecret` during a change of secrets. */
      previousAppSecret: v.optional(v.string()),
      verifyToken: v.string(),
      wabas: v.array(v.string()),
    }),
  ),
);
export type PlatformApps = v.InferOutput<typeof PlatformAppsSchema>;

export interface PlatformApp {
  readonly appId: string;
  readonly secrets: readonly string[];
  readonly verifyToken: string;
  readonly wabas: ReadonlySet<string>;
}

/** Parses the secret's text. The error does not quote it, although parsers do. */
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

import * as v from 'valibot';
import { errorName } from '../../observe/error-name.ts';
import { log } from '../../observe/log.ts';
import type { CredentialOf } from '../../platform/credentials.ts';
import type { PlatformTransport } from '../../platform/transport.ts';
import type { WabaAccess } from '../../platform/waba-access.ts';

/** Tells whether a WABA may send on `/marketing_messages` (platform reference, 4.3). */
export type IsOnboarded = (waba: WabaAccess) => Promise<boolean>;

const keepForMs = 300_000;
/** After a failed read, the next sends do not ask again for this time. */
const keepFailureForMs = 30_000;

const WabaSchema = v.object({ marketing_messages_onboarding_status: v.optional(v.string(), '') });

/**
 * Only `ONBOARDED` counts; cached for 5 minutes. Never throws: after a failed read the answer is no for 30 seconds, and
 * messages go to `/messages`, which takes all (D30).
 */
export function marketingOnboarding(
  call: PlatformTransport,
  credentialOf: CredentialOf,
  nowMs: () => number,
): IsOnboarded {
  const kept = new Map<string, { readonly onboarded: boolean; readonly untilMs: number }>();
  return async (waba) => {
    const known = kept.get(waba.wabaId);
    if (known !== undefined && nowMs() < known.untilMs) return known.onboarded;
    try {
      const onboarded = await read(waba);
      kept.set(waba.wabaId, { onboarded, untilMs: nowMs() + keepForMs });
      return onboarded;
    } catch (error) {
      log('platform.waba_unreadable', {
        wabaId: waba.wabaId,
        error: errorName(error),
      });
      kept.set(waba.wabaId, { onboarded: false, untilMs: nowMs() + keepFailureForMs });
      return false;
    }
  };

  async function read(waba: WabaAccess): Promise<boolean> {
    const { accessToken } = await credentialOf(waba.credential);
    const query = { fields: 'id,marketing_messages_onboarding_status' };
    const { body } = await call({ method: 'GET', path: waba.wabaId, query, accessToken, wabaId: waba.wabaId });
    return v.parse(WabaSchema, body).marketing_messages_onboarding_status.toUpperCase() === 'ONBOARDED';
  }
}

import * as v from 'valibot';
import { wholeNumber } from '../../http/documented.ts';
import type { WebhookConfig } from './config.ts';

/** Deliveries note these failures of a receiver (delivery/delivery-state.ts). */
export const FailuresSchema = v.object({
  consecutiveFailures: v.optional(v.number(), 0),
  failingSinceMs: v.optional(v.number()),
});
export type Failures = v.InferOutput<typeof FailuresSchema>;

export const TroubleSchema = v.object({
  state: v.pipe(
    v.picklist(['failing', 'switched_off']),
    v.description(
      'failing: events wait and are tried again; switched_off: by the service, until a PUT with active true.',
    ),
  ),
  since: v.pipe(
    v.string(),
    v.isoTimestamp(),
    v.description('The first failure of this run of them, or the switching off.'),
  ),
  failures: v.optional(v.pipe(wholeNumber, v.description('Of a failing one: attempts in a row that failed.'))),
  reason: v.optional(
    v.pipe(
      v.picklist(['gone', 'failing']),
      v.description('Of one that is switched off: it answered 410, or nothing but failures for five days.'),
    ),
  ),
});
export type Trouble = v.InferOutput<typeof TroubleSchema>;

/**
 * Returns the trouble of a client's receiver, or undefined for a healthy one, and one that the client has switched off.
 * The event `webhook.failing` reaches the client only once a receiver answers (D34).
 */
export function troubleOf(
  { active, disabledReason, disabledAtMs }: Pick<WebhookConfig, 'active' | 'disabledReason' | 'disabledAtMs'>,
  failures: Failures | undefined,
): Trouble | undefined {
  if (!active) {
    if (disabledReason === undefined || disabledAtMs === undefined) return undefined;
    return { state: 'switched_off', since: new Date(disabledAtMs).toISOString(), reason: disabledReason };
  }
  const { consecutiveFailures = 0, failingSinceMs } = failures ?? {};
  if (consecutiveFailures === 0 || failingSinceMs === undefined) return undefined;
  return { state: 'failing', since: new Date(failingSinceMs).toISOString(), failures: consecutiveFailures };
}

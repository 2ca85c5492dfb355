import { type Tier, tiers } from '../portfolios/messaging-limits.ts';
import type { NodeUpdate } from './update.ts';

/** The platform's pages show both formats of a limit in the webhook. */
export type LimitForm = 'integer' | 'tier';

/** Tells a WABA that its portfolio's messaging limit changed (platform reference, 10.3). */
export function capabilityUpdate(wabaId: string, tier: Tier, form: LimitForm): NodeUpdate {
  const people = Number.isFinite(tiers[tier]) ? tiers[tier] : -1;
  return {
    kind: 'node',
    wabaId,
    field: 'business_capability_update',
    value: {
      max_daily_conversations_per_business: form === 'tier' ? tier : people,
      // A small portfolio is told its limit of numbers for the business, a larger one for each WABA.
      ...(tiers[tier] <= tiers.TIER_250 ? { max_phone_numbers_per_business: 2 } : { max_phone_numbers_per_waba: 25 }),
    },
  };
}

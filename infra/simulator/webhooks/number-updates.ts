import type { NodeFields } from '../fields.ts';
import type { PhoneNumber } from '../wabas.ts';
import type { NodeUpdate } from './update.ts';

const limitField = 'whatsapp_business_manager_messaging_limit';
const limits = ['TIER_50', 'TIER_250', 'TIER_1K', 'TIER_2K', 'TIER_10K', 'TIER_100K', 'TIER_UNLIMITED'];
const qualities = ['RED', 'YELLOW', 'GREEN'];

/** What is told of a number whose quality, limit or throughput changed (platform reference, 10.3). */
export function numberUpdates(number: PhoneNumber, before: NodeFields): readonly NodeUpdate[] {
  const after = number.fields;
  const events = [
    moved(qualities, [before['quality_rating'], after['quality_rating']], ['FLAGGED', 'UNFLAGGED']),
    moved(limits, [before[limitField], after[limitField]], ['DOWNGRADE', 'UPGRADE']),
    moved(['STANDARD', 'HIGH'], [levelOf(before), levelOf(after)], ['DOWNGRADE', 'THROUGHPUT_UPGRADE']),
  ];
  return events.flatMap((event) =>
    event === undefined
      ? []
      : {
          kind: 'node' as const,
          wabaId: number.wabaId,
          field: 'phone_number_quality_update',
          value: {
            display_phone_number: number.digits,
            event,
            ...(before[limitField] === after[limitField] ? {} : { old_limit: before[limitField] }),
            current_limit: after[limitField],
          },
        },
  );
}

/** Undefined when nothing moved; what is not in the order counts as below all of it. */
function moved(
  order: readonly string[],
  [before, after]: readonly [unknown, unknown],
  [down, up]: readonly [string, string],
): string | undefined {
  if (before === after) return undefined;
  return order.indexOf(String(after)) > order.indexOf(String(before)) ? up : down;
}

function levelOf(fields: NodeFields): unknown {
  return (fields['throughput'] as { readonly level?: unknown } | undefined)?.level;
}

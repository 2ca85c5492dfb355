import type { NodeFields } from '../fields.ts';
import type { PhoneNumber } from '../wabas.ts';
import type { NodeUpdate } from './update.ts';

/**
 * Tells a raised throughput (platform reference, 10.3). Despite the field's name nothing tells of quality, nor of a
 * lowered throughput; the limit belongs to the portfolio.
 */
export function numberUpdates({ wabaId, digits, fields }: PhoneNumber, before: NodeFields): readonly NodeUpdate[] {
  if (levelOf(fields) !== 'HIGH' || levelOf(before) === 'HIGH') return [];
  const limit = fields['whatsapp_business_manager_messaging_limit'];
  return [
    {
      kind: 'node',
      wabaId,
      field: 'phone_number_quality_update',
      value: {
        display_phone_number: digits,
        event: 'THROUGHPUT_UPGRADE',
        current_limit: limit,
        max_daily_conversations_per_business: limit,
      },
    },
  ];
}

function levelOf(fields: NodeFields): unknown {
  return (fields['throughput'] as { readonly level?: unknown } | undefined)?.level;
}

import type { Hold } from '../holds.ts';
import type { NodeUpdate } from './update.ts';

const restricted = ['RESTRICTED_BIZ_INITIATED_MESSAGING', 'RESTRICTED_CUSTOMER_INITIATED_MESSAGING'];

/** What is told of a WABA that is held, or no longer (platform reference, 10.4): nothing of its payment, nor of a number. */
export function holdUpdates(
  { nodeId: wabaId, kind, untilMs }: Hold,
  { atMs, isOver }: { readonly atMs: number; readonly isOver: boolean },
): readonly NodeUpdate[] {
  const expiration = untilMs === undefined ? {} : { expiration: Math.floor(untilMs / 1_000) };
  const values: Readonly<Record<string, object>> = {
    131031: {
      event: 'DISABLED_UPDATE',
      ban_info: { waba_ban_state: isOver ? 'REINSTATE' : 'DISABLE', waba_ban_date: dateText(atMs) },
    },
    368: restriction(isOver ? [] : restricted.map((restriction_type) => ({ restriction_type, ...expiration }))),
    131064: {
      violation_info: { violation_type: `UTILITY_TEMPLATE_ABUSE_RATE_LIMIT${isOver ? '_RECOVERY' : ''}` },
      ...restriction(
        isOver
          ? []
          : [
              {
                restriction_type: 'RATE_LIMITED_UTILITY_TEMPLATE_MESSAGING',
                ...expiration,
                remediation: kind.solution,
              },
            ],
      ),
    },
  };
  const value = values[kind.code];
  return value === undefined ? [] : [{ kind: 'node', wabaId, field: 'account_update', value }];
}

/** Of a restriction that is over the platform says no more than the event. */
function restriction(restrictions: readonly object[]) {
  return {
    event: 'ACCOUNT_RESTRICTION',
    ...(restrictions.length === 0 ? {} : { restriction_info: restrictions }),
  };
}

function dateText(atMs: number): string {
  return new Date(atMs).toLocaleDateString('en-US', {
    ...{ month: 'long', day: 'numeric', year: 'numeric' },
    timeZone: 'UTC',
  });
}

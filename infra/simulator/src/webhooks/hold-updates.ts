import { type Hold, noUtilityTemplates } from '../holds.ts';
import type { NodeUpdate } from './update.ts';

const restricted = ['RESTRICTED_BIZ_INITIATED_MESSAGING', 'RESTRICTED_CUSTOMER_INITIATED_MESSAGING'];

/**
 * Returns the webhooks when a hold on a WABA begins or ends (platform reference, 10.4). Payment and numbers have none.
 */
export function holdUpdates(
  { nodeId: wabaId, kind, untilMs, isEndText }: Hold,
  { atMs, isOver }: { readonly atMs: number; readonly isOver: boolean },
): readonly NodeUpdate[] {
  const expiration = untilMs === undefined ? {} : { expiration: endOf(untilMs, isEndText === true) };
  const abuse = (type: string, over: string, restriction_type: string) => ({
    violation_info: { violation_type: isOver ? over : type },
    ...restriction(isOver ? [] : [{ restriction_type, ...expiration, remediation: kind.solution }]),
  });
  const values: Readonly<Record<string, object>> = {
    131031: {
      event: 'DISABLED_UPDATE',
      ban_info: { waba_ban_state: isOver ? 'REINSTATE' : 'DISABLE', waba_ban_date: dateText(atMs) },
    },
    368: restriction(isOver ? [] : restricted.map((restriction_type) => ({ restriction_type, ...expiration }))),
    131064: abuse(
      'UTILITY_TEMPLATE_ABUSE_RATE_LIMIT',
      'UTILITY_TEMPLATE_ABUSE_RATE_LIMIT_RECOVERY',
      'RATE_LIMITED_UTILITY_TEMPLATE_MESSAGING',
    ),
    [noUtilityTemplates]: abuse(warnedOf, `${warnedOf}_UNBAN`, 'RESTRICTED_UTILITY_TEMPLATES'),
  };
  const value = values[kind.code];
  return value === undefined ? [] : [{ kind: 'node', wabaId, field: 'account_update', value }];
}

const warnedOf = 'UTILITY_TEMPLATE_ABUSE';

/** Warns without consequence. For misused templates it is an ACCOUNT_RESTRICTION without restrictions. */
export function warningUpdate(wabaId: string, violation: string, displayNumber: string | undefined): NodeUpdate {
  const value = {
    phone_number: displayNumber,
    event: violation === warnedOf ? 'ACCOUNT_RESTRICTION' : 'ACCOUNT_VIOLATION',
    violation_info: { violation_type: violation },
  };
  return { kind: 'node', wabaId, field: 'account_update', value };
}

function endOf(untilMs: number, isText: boolean): number | string {
  const seconds = Math.floor(untilMs / 1_000);
  return isText ? String(seconds) : seconds;
}

/** At the end of a restriction the platform sends only the event. */
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

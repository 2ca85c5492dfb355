import type { ReportedState } from '../../lib/messages/receipts/reported-state.ts';

export interface ToldRecipient {
  /** The form is `<dispatchId>-<index>`. */
  readonly messageId: string;
  readonly state: ReportedState;
  readonly code?: string;
  readonly to?: string;
}

/** The platform simulator accepted the message; its request has the message id as `biz_opaque_callback_data`. */
export interface TakenMessage {
  readonly messageId: string | undefined;
  readonly to: string;
}

/** Reports are compared with the platform's record. Only `unknownNeverTaken` may be non-empty. */
export interface SendAudit {
  readonly recipients: number;
  /** The platform accepted the message of these recipients. */
  readonly reached: number;
  /** A duplicate is accepted beyond the first of its message id or recipient. */
  readonly duplicates: number;
  /**
   * A lost one was never accepted, and is not reported as `unknown`: refused, expired, still pending, or reported as
   * sent.
   */
  readonly lost: readonly ToldRecipient[];
  readonly unknownNeverTaken: readonly ToldRecipient[];
  /** No receipt settled these: they were accepted, and are still reported as `unknown`. */
  readonly unknownTaken: readonly ToldRecipient[];
  /** These were accepted, and are reported as not accepted. */
  readonly denied: readonly ToldRecipient[];
  /** These were accepted, and are reported for another recipient. */
  readonly misaddressed: readonly ToldRecipient[];
  /** The message id of an accepted stray belongs to no recipient. */
  readonly strays: number;
}

const notSentStates: ReadonlySet<ReportedState> = new Set(['pending', 'failed', 'expired']);

/**
 * Compares the recipients of all dispatches, each with its own address, with all messages that the platform accepted.
 */
export function auditOf(told: readonly ToldRecipient[], taken: readonly TakenMessage[]): SendAudit {
  const takenIds = new Set(taken.map(({ messageId }) => messageId));
  const takenFor = new Map(taken.map(({ messageId, to }) => [messageId, digitsOf(to)]));
  const reachedAddresses = new Set(taken.map(({ to }) => to));
  const known: ReadonlySet<string | undefined> = new Set(told.map(({ messageId }) => messageId));
  const isTaken = ({ messageId }: ToldRecipient) => takenIds.has(messageId);
  const reached = told.filter(isTaken);
  const missed = told.filter((recipient) => !isTaken(recipient));
  return {
    recipients: told.length,
    reached: reached.length,
    duplicates: taken.length - Math.min(takenIds.size, reachedAddresses.size),
    lost: missed.filter(({ state }) => state !== 'unknown'),
    unknownNeverTaken: missed.filter(({ state }) => state === 'unknown'),
    unknownTaken: reached.filter(({ state }) => state === 'unknown'),
    denied: reached.filter(({ state }) => notSentStates.has(state)),
    misaddressed: reached.filter(({ messageId, to }) => to !== undefined && takenFor.get(messageId) !== digitsOf(to)),
    strays: taken.filter(({ messageId }) => !known.has(messageId)).length,
  };
}

function digitsOf(to: string): string {
  return to.replace('+', '');
}

/** Returns the faults of an audit, one sentence each. */
export function audited({ duplicates, lost, unknownTaken, denied, misaddressed, strays }: SendAudit): string[] {
  const told = (recipients: readonly ToldRecipient[], what: string) =>
    recipients.length === 0 ? [] : [`${recipients.length} ${what}: ${shown(recipients)}`];
  return [
    ...(duplicates === 0 ? [] : [`${duplicates} messages were sent twice`]),
    ...told(lost, 'were never sent, and no report says that this is unknown'),
    ...told(unknownTaken, 'are unknown although the platform took them'),
    ...told(denied, 'are told as not sent although the platform took them'),
    ...told(misaddressed, 'are told of somebody else than the platform sent to'),
    ...(strays === 0 ? [] : [`${strays} messages belong to no recipient`]),
  ];
}

/** Tells the number of recipients by state, then the first few. */
function shown(recipients: readonly ToldRecipient[]): string {
  const endings = Map.groupBy(recipients, ({ state, code }) => (code === undefined ? state : `${state} ${code}`));
  const counted = [...endings].map(([ending, { length }]) => `${length} ${ending}`).join(', ');
  const some = recipients.slice(0, 5).map(({ messageId }) => messageId);
  return `${counted} (${some.join(' ')}${recipients.length > some.length ? ' ...' : ''})`;
}

/** Leaves out states that have no message. */
export function shownCounts(counts: Readonly<Record<string, number>> | undefined): string {
  const some = Object.entries(counts ?? {}).filter(([, count]) => count > 0);
  return some.map(([state, count]) => `${count} ${state}`).join(', ') || 'nothing';
}

export function shownAudit({
  recipients,
  reached,
  lost,
  duplicates,
  unknownNeverTaken: { length: unknown },
}: SendAudit): string {
  const unknownPart = unknown === 0 ? '' : `, ${unknown} unknown and never reached`;
  return `${recipients} recipients, ${reached} reached, ${lost.length} lost, ${duplicates} doubled${unknownPart}`;
}

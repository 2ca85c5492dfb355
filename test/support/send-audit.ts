import type { ReportedState } from '../../lib/messages/receipts/reported-state.ts';

/** One recipient of a job, as the report tells of it. */
export interface ToldRecipient {
  /** `<jobId>-<index>` */
  readonly dispatchId: string;
  readonly state: ReportedState;
  readonly code?: string;
  /** Its address in the report. */
  readonly to?: string;
}

/** One message that the platform simulator took; its request has the dispatch id as `biz_opaque_callback_data`. */
export interface TakenMessage {
  readonly dispatchId: string | undefined;
  readonly to: string;
}

/** What the reports say, held against what the platform took. Only `unknownNeverTaken` may be there. */
export interface SendAudit {
  readonly recipients: number;
  /** Recipients whose message the platform took. */
  readonly reached: number;
  /** Messages that were taken beyond the first of their dispatch id, or of their recipient. */
  readonly duplicates: number;
  /** Never taken, and not told as `unknown`: refused, expired, waiting for ever, or told as sent. */
  readonly lost: readonly ToldRecipient[];
  readonly unknownNeverTaken: readonly ToldRecipient[];
  /** Taken, and still told as `unknown`: no receipt settled it. */
  readonly unknownTaken: readonly ToldRecipient[];
  /** Taken, and told as one that was not. */
  readonly denied: readonly ToldRecipient[];
  /** Taken, and told of somebody else. */
  readonly misaddressed: readonly ToldRecipient[];
  /** Messages with the dispatch id of no recipient. */
  readonly strays: number;
}

const notSentStates: ReadonlySet<ReportedState> = new Set(['pending', 'failed', 'expired']);

/** Compares the recipients of all jobs, each with an address of its own, with everything that the platform took. */
export function auditOf(told: readonly ToldRecipient[], taken: readonly TakenMessage[]): SendAudit {
  const takenIds = new Set(taken.map(({ dispatchId }) => dispatchId));
  const takenFor = new Map(taken.map(({ dispatchId, to }) => [dispatchId, digitsOf(to)]));
  const reachedAddresses = new Set(taken.map(({ to }) => to));
  const known: ReadonlySet<string | undefined> = new Set(told.map(({ dispatchId }) => dispatchId));
  const isTaken = ({ dispatchId }: ToldRecipient) => takenIds.has(dispatchId);
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
    misaddressed: reached.filter(({ dispatchId, to }) => to !== undefined && takenFor.get(dispatchId) !== digitsOf(to)),
    strays: taken.filter(({ dispatchId }) => !known.has(dispatchId)).length,
  };
}

function digitsOf(to: string): string {
  return to.replace('+', '');
}

/** In one sentence each, what must not be. */
export function audited({ duplicates, lost, unknownTaken, denied, misaddressed, strays }: SendAudit): string[] {
  const told = (recipients: readonly ToldRecipient[], what: string) =>
    recipients.length === 0 ? [] : [`${recipients.length} ${what}: ${shown(recipients)}`];
  return [
    ...(duplicates === 0 ? [] : [`${duplicates} messages were sent twice`]),
    ...told(lost, 'were never sent, and nobody says that this is unknown'),
    ...told(unknownTaken, 'are unknown although the platform took them'),
    ...told(denied, 'are told as not sent although the platform took them'),
    ...told(misaddressed, 'are told of somebody else than the platform sent to'),
    ...(strays === 0 ? [] : [`${strays} messages are nobody's`]),
  ];
}

/** How many of each ending, then the first few. */
function shown(recipients: readonly ToldRecipient[]): string {
  const endings = Map.groupBy(recipients, ({ state, code }) => (code === undefined ? state : `${state} ${code}`));
  const counted = [...endings].map(([ending, { length }]) => `${length} ${ending}`).join(', ');
  const some = recipients.slice(0, 5).map(({ dispatchId }) => dispatchId);
  return `${counted} (${some.join(' ')}${recipients.length > some.length ? ' ...' : ''})`;
}

import { correlationId } from './correlation.ts';

/** Every event that is logged. Names are stable: alarms, queries and people search for them (infra/operate/README.md). */
export const logEvents = [
  'account.restored',
  'account.restricted',
  'audit.not_written',
  'authorizer.failed',
  'budget.not_leased',
  'budget.not_released',
  'budget.not_reserved',
  'budget.not_told',
  'dispatch.batch',
  'dispatch.breaker_failed',
  'dispatch.claim_failed',
  'dispatch.credential_refused',
  'dispatch.end_failed',
  'dispatch.error',
  'dispatch.expired',
  'dispatch.failed',
  'dispatch.held',
  'dispatch.job_not_read',
  'dispatch.opt_outs_not_read',
  'dispatch.pace_failed',
  'dispatch.platform_down',
  'dispatch.postpone_failed',
  'dispatch.retry',
  'dispatch.sent',
  'dispatch.slot_missed',
  'dispatch.status_unknown',
  'dispatch.unknown',
  'event.not_queued',
  'event.wanted_not_read',
  'hint.no_waba',
  'hint.not_read',
  'hint.read',
  'hint.unreadable',
  'hold.ended',
  'hold.not_changed',
  'hold.opened',
  'idempotency.write_failed',
  'inbound.late',
  'inbound.no_number',
  'inbound.not_taken',
  'inbound.taken',
  'inbound.unreadable',
  'job.accepted',
  'job.cancelled',
  'job.completed',
  'job.failed',
  'job.fanned_out',
  'job.limit_not_read',
  'job.never_accepted',
  'job.not_composable',
  'job.not_described',
  'job.not_held',
  'job.number_contended',
  'job.parked',
  'job.pause_not_ended',
  'job.resumed',
  'job.round_lost',
  'job.round_not_released',
  'job.stopped',
  'job.watch_ended',
  'job.watch_failed',
  'job.withdrawn',
  'login.argon2_missing',
  'number.fallen',
  'platform.back',
  'platform.down',
  'platform.number_unreadable',
  'platform.person_words',
  'platform.product_unreadable',
  'platform.signature_refused',
  'platform.template_unreadable',
  'platform.updates_dropped',
  'platform.updates_passed_over',
  'platform.waba_unreadable',
  'pricing.rates_not_read',
  'pricing.rates_not_yet_in_force',
  'pricing.refresh_failed',
  'pricing.refreshed',
  'receipts.dropped',
  'receipts.events_left',
  'receipts.failed',
  'receipts.job_unreadable',
  'receipts.recorded',
  'receipts.resolved',
  'receipts.unreadable',
  'redirect.missing',
  'request.failed',
  'request.unauthorized',
  'retry.marks_kept',
  'sync.channels_failed',
  'sync.completed',
  'sync.release_failed',
  'sync.started',
  'sync.stopped',
  'sync.unreadable',
  'sync.waba_failed',
  'sync.walk_finished',
  'sync.walk_passed_over',
  'sync.walk_skipped',
  'template.answer_not_kept',
  'template.doubt_not_settled',
  'template.not_stored',
  'template.renewal_not_claimed',
  'template.skipped',
  'webhook.abandoned',
  'webhook.delivered',
  'webhook.error',
  'webhook.failed',
  'webhook.gone',
  'webhook.not_recorded',
  'webhook.switched_off',
] as const;
export type LogEvent = (typeof logEvents)[number];

/**
 * Structured logs: one JSON line with a stable event name and facts from a closed list of keys. The list is the guard of
 * R44: what is not on it (phone numbers, tokens, passwords, parameter values) cannot be logged by accident.
 */
export interface LogFacts {
  readonly route?: string | undefined;
  readonly clientId?: number | undefined;
  /** Of a client's user, never of a recipient. */
  readonly userId?: string | undefined;
  /** What a user has done, of a closed list (audit/entry.ts). */
  readonly act?: string | undefined;
  readonly campaignId?: number | undefined;
  readonly wabaId?: string | undefined;
  /** The platform's id of a template. */
  readonly templateId?: string | undefined;
  /** Ids of documents (contract, Templates). */
  readonly documentIds?: readonly string[] | undefined;
  readonly jobId?: string | undefined;
  readonly dispatchId?: string | undefined;
  /** A dispatch and a place in it. */
  readonly messageId?: string | undefined;
  readonly syncId?: string | undefined;
  readonly eventId?: string | undefined;
  readonly eventType?: string | undefined;
  readonly fence?: number | undefined;
  readonly code?: string | undefined;
  /** Of a hold: `waba`, `utility`, and of a number, its marketing or a template which one. */
  readonly scope?: string | undefined;
  readonly platformCode?: number | undefined;
  readonly error?: string | undefined;
  readonly count?: number | undefined;
  readonly attempt?: number | undefined;
  readonly outcome?: string | undefined;
  readonly durationMs?: number | undefined;
  /** Where a request came from, as the edge says. */
  readonly viewerAddress?: string | undefined;
  /** How often what happened, by names of ours, or of the platform's as far as they have its form (passed-over.ts). */
  readonly tally?: Readonly<Record<string, number>> | undefined;
  /** Of a line that is written on behalf of several requests. */
  readonly correlationIds?: readonly string[] | undefined;
}

const loggedKeys = new Set<string>([
  'route',
  'clientId',
  'userId',
  'act',
  'campaignId',
  'wabaId',
  'templateId',
  'documentIds',
  'jobId',
  'dispatchId',
  'messageId',
  'syncId',
  'eventId',
  'eventType',
  'fence',
  'code',
  'platformCode',
  'scope',
  'error',
  'count',
  'attempt',
  'outcome',
  'durationMs',
  'viewerAddress',
  'tally',
  'correlationIds',
] satisfies (keyof LogFacts)[]);

/** Writes one line to standard output, with the id of the request on whose behalf the code is running. */
export function log(event: LogEvent, facts: LogFacts = {}): void {
  const line: Record<string, unknown> = { event, at: new Date().toISOString(), correlationId: correlationId() };
  for (const [key, value] of Object.entries(facts)) {
    if (loggedKeys.has(key) && value !== undefined) line[key] = value;
  }
  process.stdout.write(`${JSON.stringify(line)}\n`);
}

import { correlationId } from './correlation.ts';

/** Names of logged events are stable, because alarms, queries and people search for them (infra/operate/LOGS.md). */
export const logEvents = [
  'account.restored',
  'account.restricted',
  'audit.not_written',
  'authorizer.failed',
  'budget.not_leased',
  'budget.not_released',
  'budget.not_reserved',
  'budget.not_told',
  'dispatch.accepted',
  'dispatch.cancelled',
  'dispatch.completed',
  'dispatch.limit_not_read',
  'dispatch.not_composable',
  'dispatch.not_described',
  'dispatch.not_held',
  'dispatch.not_woken',
  'dispatch.overdue',
  'dispatch.parked',
  'dispatch.resumed',
  'dispatch.stopped',
  'dispatch.unreadable',
  'dispatch.withdrawn',
  'event.not_queued',
  'event.wanted_not_read',
  'hint.no_waba',
  'hint.not_read',
  'hint.read',
  'hint.unreadable',
  'hold.ended',
  'hold.not_changed',
  'hold.not_counted',
  'hold.opened',
  'idempotency.write_failed',
  'inbound.late',
  'inbound.no_number',
  'inbound.not_taken',
  'inbound.taken',
  'inbound.unreadable',
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
  'receipts.dispatch_unreadable',
  'receipts.dropped',
  'receipts.events_left',
  'receipts.failed',
  'receipts.recorded',
  'receipts.resolved',
  'receipts.unreadable',
  'redirect.missing',
  'request.failed',
  'request.unauthorized',
  'send.batch',
  'send.breaker_failed',
  'send.claim_failed',
  'send.credential_refused',
  'send.dispatch_not_read',
  'send.end_failed',
  'send.error',
  'send.expired',
  'send.failed',
  'send.held',
  'send.pace_failed',
  'send.platform_down',
  'send.postpone_failed',
  'send.resolved',
  'send.retry',
  'send.sent',
  'send.status_unknown',
  'send.unknown',
  'spend.not_counted',
  'sweep.number_failed',
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
 * The closed list of facts guards R44: phone numbers, tokens, passwords and parameter values cannot be logged by
 * accident.
 */
export interface LogFacts {
  readonly route?: string | undefined;
  readonly clientId?: number | undefined;
  /** The id is a client's user, never a recipient. */
  readonly userId?: string | undefined;
  /** The act is from a closed list (audit/entry.ts). */
  readonly act?: string | undefined;
  readonly campaignId?: number | undefined;
  readonly wabaId?: string | undefined;
  /** The platform gave the template this id. */
  readonly templateId?: string | undefined;
  readonly documentIds?: readonly string[] | undefined;
  readonly dispatchId?: string | undefined;
  /** The id is a dispatch and a place in it. */
  readonly messageId?: string | undefined;
  readonly syncId?: string | undefined;
  readonly eventId?: string | undefined;
  readonly eventType?: string | undefined;
  readonly fence?: number | undefined;
  readonly code?: string | undefined;
  /** A hold has it: `waba`, `utility`, or which number, marketing of a number, or template. */
  readonly scope?: string | undefined;
  readonly platformCode?: number | undefined;
  readonly error?: string | undefined;
  readonly count?: number | undefined;
  readonly attempt?: number | undefined;
  readonly outcome?: string | undefined;
  readonly durationMs?: number | undefined;
  /** The edge reports the address of a request. */
  readonly viewerAddress?: string | undefined;
  /** Names are our own, or the platform's if well-formed (ignored-updates.ts). */
  readonly tally?: Readonly<Record<string, number>> | undefined;
  /** A line that serves several requests names them. */
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

/** Writes one JSON line to standard output, with the current request's id. */
export function log(event: LogEvent, facts: LogFacts = {}): void {
  const line: Record<string, unknown> = { event, at: new Date().toISOString(), correlationId: correlationId() };
  for (const [key, value] of Object.entries(facts)) {
    if (loggedKeys.has(key) && value !== undefined) line[key] = value;
  }
  process.stdout.write(`${JSON.stringify(line)}\n`);
}

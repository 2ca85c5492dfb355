import { type HintSink, hintsOf } from '../../hints/hint-message.ts';
import { Refusal } from '../../http/refusal.ts';
import { log } from '../../observe/log.ts';
import { count } from '../../observe/metrics.ts';
import type { PlatformApp } from '../../platform/webhook/apps.ts';
import { updatesIn } from '../../platform/webhook/envelope.ts';
import { type PersonUpdate, type PersonUpdates, personUpdatesOf } from '../../platform/webhook/person-updates.ts';
import { type RawBody, signingApp } from '../../platform/webhook/signature.ts';
import type { InboundSink } from '../inbound/inbound-message.ts';
import { inboundOf } from '../inbound/inbound-of.ts';
import { type CountsByKind, ignoredUpdates } from './ignored-updates.ts';
import type { NumberReceipts } from './receipt.ts';
import { receiptsOf } from './receipts-of.ts';

/** Takes receipts until a run records them. */
export interface ReceiptSink {
  /** Resolves when all are queued; rejects when any may not be: the platform then repeats the webhook. */
  send(numbers: readonly NumberReceipts[]): Promise<void>;
}

export interface WebhookPorts {
  readonly apps: () => Promise<readonly PlatformApp[]>;
  readonly receipts: ReceiptSink;
  readonly hints: HintSink;
  readonly inbound: InboundSink;
  readonly nowMs: () => number;
}

export interface PlatformWebhook {
  readonly body: RawBody;
  readonly signature: string | undefined;
}

/**
 * Queues a webhook's receipts, hints and inbound updates in one round trip (D38). Refuses with 401 what no app has
 * signed, before parsing, and 503 when queueing fails.
 */
export async function receiveWebhook({ body, signature }: PlatformWebhook, ports: WebhookPorts): Promise<void> {
  const app = signingApp(await orRepeat(ports.apps()), body, signature);
  if (app === undefined) {
    count('PlatformSignaturesRefused');
    log('platform.signature_refused');
    throw new Refusal('unauthorized', 'not signed by an app of the platform that is known here');
  }

  const received = updatesIn(body, app.wabas);
  const arrivedAtMs = ports.nowMs();
  const statuses = receiptsOf(received.updates, arrivedAtMs);
  const people = personUpdatesOf(received.updates);
  count('PlatformWebhooksReceived');
  count('PlatformStatusesForeign', statuses.foreign);
  dropped('foreign_waba', received.foreign, received.foreignWabaId);
  dropped('unreadable', received.unreadable + statuses.unreadable + people.unreadable);
  tallied(people);
  passedOver(ignoredUpdates(received.updates));

  const queued = [
    ports.receipts.send(statuses.numbers),
    ports.hints.send(hintsOf(received.updates, arrivedAtMs)),
    ports.inbound.send(inboundOf(people.words, arrivedAtMs)),
  ];
  await orRepeat(Promise.all(queued));
  count('ReceiptsQueued', statuses.total);
}

/** Counts by kind only: anything more would be about people. */
function tallied({ words, others }: PersonUpdates): void {
  const tally: Record<string, number> = Object.fromEntries(others);
  for (const kind of words.map(kindOf)) tally[kind] = (tally[kind] ?? 0) + 1;
  if (Object.keys(tally).length === 0) return;
  count('PlatformPersonWordsRead', words.length);
  log('platform.person_words', { count: words.length, tally });
}

function kindOf(word: PersonUpdate): string {
  return word.kind === 'preference' ? word.says : word.kind;
}

function dropped(code: string, updates: number, wabaId?: string): void {
  if (updates === 0) return;
  count('PlatformUpdatesDropped', updates);
  log('platform.updates_dropped', { code, count: updates, wabaId });
}

/** Writes one log line per webhook, so that all signed content is counted. */
function passedOver(tally: CountsByKind): void {
  const updates = Object.values(tally).reduce((sum, times) => sum + times, 0);
  if (updates === 0) return;
  count('PlatformUpdatesPassedOver', updates);
  log('platform.updates_passed_over', { count: updates, tally });
}

/** A failure on our side is a 503, after which the platform repeats for days. */
async function orRepeat<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (cause) {
    throw new Refusal('webhook_not_taken', 'not taken, repeat it later', { cause });
  }
}

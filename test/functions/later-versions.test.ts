import type { Context, SQSBatchResponse, SQSEvent } from 'aws-lambda';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { eventsDeliver } from '../../functions/events-deliver.ts';
import { messagesReceipts } from '../../functions/messages-receipts.ts';
import { platformHints } from '../../functions/platform-hints.ts';
import { platformInbound } from '../../functions/platform-inbound.ts';
import { spendCount } from '../../functions/spend-count.ts';
import { templatesSyncWorker } from '../../functions/templates-sync-worker.ts';
import { smallRequestsHandler } from '../../lib/messages/sender/small-request-handler.ts';
import { senderHandler } from '../../lib/messages/sender/wake-handler.ts';
import { log } from '../../lib/observe/log.ts';

/*
 * A consumer meets messages of a later version, or without one, while a deployment is rolled out or back. It reports
 * them failed, so that SQS redelivers them, and logs why (D47).
 */

const context = { getRemainingTimeInMillis: () => 60_000 } as Context;
const attributes = { SentTimestamp: '1800000000000', ApproximateReceiveCount: '1' };
const eventOf = (body: string) =>
  ({ Records: [{ messageId: 'm1', receiptHandle: 'r1', attributes, body }] }) as unknown as SQSEvent;
const event = eventOf('{"version":2}');

type Handler = (event: SQSEvent, context: Context) => Promise<SQSBatchResponse>;

/** Reading a message may touch these ports only; any other port throws. */
const postpone = async () => undefined;
const ofProcess = { log, nowMs: () => 1_800_000_000_000, pause: () => new Promise(() => undefined) };
const reading = {
  ...{ ...ofProcess, postpone, queue: { postpone } },
  ...{ process: ofProcess, holds: { ofRun: () => undefined }, numbers: {} },
} as never;

const consumers: [string, Handler, string][] = [
  ['wakes', senderHandler(reading), 'send.error'],
  ['small requests', smallRequestsHandler(reading), 'send.error'],
  ['counts', spendCount(reading), 'spend.not_counted'],
  ['events', eventsDeliver(reading), 'webhook.not_recorded'],
  ['receipts', messagesReceipts(reading), 'receipts.unreadable'],
  ['hints', platformHints(reading), 'hint.unreadable'],
  ['inbound words', platformInbound(reading), 'inbound.unreadable'],
];

describe('a message of a later version', () => {
  const lines: string[] = [];

  beforeEach(() => {
    lines.length = 0;
    vi.spyOn(process.stdout, 'write').mockImplementation((text) => lines.push(String(text)) > 0);
    vi.spyOn(console, 'log').mockImplementation((text) => void lines.push(String(text)));
  });
  afterEach(() => void vi.restoreAllMocks());

  test.each(consumers)('of %s is reported failed, and told', async (_, handler, told) => {
    const answer = await handler(event, context);
    expect(answer).toEqual({ batchItemFailures: [{ itemIdentifier: 'm1' }] });
    expect(lines.join('\n')).toMatch(new RegExp(`"${told}".*"LaterVersion"`));
    expect(await handler(eventOf('{}'), context)).toEqual(answer);
    expect(lines.join('\n')).toMatch(new RegExp(`"${told}".*"ValiError"`));
  });

  test('of synchronizations fails its run, and is told', async () => {
    await expect(templatesSyncWorker(reading)(event, context)).rejects.toMatchObject({ name: 'LaterVersion' });
    expect(lines.join('\n')).toMatch(/"sync.unreadable".*"LaterVersion"/);
  });
});

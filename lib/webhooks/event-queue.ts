import type { SQSClient } from '@aws-sdk/client-sqs';
import { forEachConcurrently } from '../aws/concurrently.ts';
import { backoff, type Pause } from '../aws/pause.ts';
import { queueBody } from '../aws/queue-body.ts';
import { packEntries, type QueueEntry, sendEntries } from '../aws/sqs-batch.ts';
import { correlationId } from '../observe/correlation.ts';
import { type EventSink, eventMessageVersion, type ServiceEvent } from './event.ts';

/** All events of one call have this limit, shorter than a step under the sync lock may take. */
const sendLimitMs = 8_000;
const batchesInFlight = 5;
const tries = 4;

export function encodeEvent(event: ServiceEvent): string {
  return queueBody({ version: eventMessageVersion, ...event });
}

/** Sends to the event queue: ten events a request, five requests at a time. Retries refused events, with a bound. */
export function eventQueue(client: SQSClient, queueUrl: string, pause: Pause = backoff(100, 1_000)): EventSink {
  const queue = { client, url: queueUrl };
  return {
    send: async (events) => {
      const signal = AbortSignal.timeout(sendLimitMs);
      const entries = events.map((event) => ({
        body: encodeEvent({ correlationId: correlationId(), ...event }),
        group: String(event.clientId),
        delaySeconds: 0,
      }));
      await forEachConcurrently(packEntries(entries), batchesInFlight, (batch) => sendWhole(batch, signal));
    },
  };

  async function sendWhole(batch: readonly QueueEntry[], signal: AbortSignal): Promise<void> {
    let open = batch;
    for (let attempt = 0; open.length > 0; attempt++) {
      if (attempt === tries) throw new Error(`the event queue refused ${open.length} events ${tries} times`);
      if (attempt > 0) await pause(attempt);
      open = await sendEntries(queue, open, signal);
    }
  }
}

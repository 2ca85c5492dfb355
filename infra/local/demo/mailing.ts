import { setTimeout as pause } from 'node:timers/promises';
import * as v from 'valibot';
import { storePause } from '../../../lib/aws/pause.ts';
import { countStates, type OutcomeCounts } from '../../../lib/messages/outcomes/outcome.ts';
import { outcomesStore } from '../../../lib/messages/outcomes/outcomes-store.ts';
import { localTarget } from '../../operate/target.ts';
import { demoDid, orderUpdate, type Recipient } from './audience.ts';
import { call, type DemoClient, type DemoStack } from './client.ts';
import { type ReceivedMessage, type Tally, tallyOf } from './tally.ts';

export interface MailingOptions {
  readonly stack: DemoStack;
  readonly client: DemoClient;
  readonly recipients: readonly Recipient[];
  /** Longest wait for the last outcome. */
  readonly limitMs: number;
  readonly signal: AbortSignal;
  /** Told now and then how many messages have reached the platform. */
  readonly onProgress?: (arrived: number) => void;
}

export interface Mailing {
  readonly tally: Tally;
  /** From the request until the last outcome was known. */
  readonly seconds: number;
}

const MessagesSchema = v.object({
  total: v.number(),
  data: v.array(v.object({ to: v.string(), request: v.object({ template: v.object({ components: v.unknown() }) }) })),
});

const progressMs = 250;
/** Outcomes are asked for when everything has arrived; this often when it has not, because something may never arrive. */
const outcomesMs = 5_000;

/**
 * Sends `order_update` to the recipients, follows the messages to the platform, and counts what became of them, at the
 * end or after `limitMs`, when some are still pending.
 */
export async function mail(options: MailingOptions): Promise<Mailing> {
  const { stack, client, recipients, signal } = options;
  const before = await messagesTotal(stack, signal);
  const startedMs = performance.now();
  const jobId = await client.send({ did: demoDid, template: orderUpdate, recipients });
  const counts = await follow(jobId, before, options);
  const seconds = (performance.now() - startedMs) / 1_000;
  return { tally: tallyOf(recipients, counts, await messagesAfter(stack, before, signal)), seconds };
}

async function follow(jobId: string, before: number, options: MailingOptions): Promise<OutcomeCounts> {
  const { stack, recipients, limitMs, signal, onProgress } = options;
  const { documentClient: client, tableName } = localTarget(stack);
  const table = tableName('messages');
  const outcomes = outcomesStore({ client, table, nowMs: Date.now, pause: storePause });
  const endMs = performance.now() + limitMs;
  let countedMs = performance.now();
  try {
    for (;;) {
      const arrived = (await messagesTotal(stack, signal)) - before;
      onProgress?.(arrived);
      const over = performance.now() > endMs;
      if (over || arrived >= recipients.length || performance.now() - countedMs > outcomesMs) {
        countedMs = performance.now();
        // There is no job until the fan-out has begun.
        const job = await outcomes.findJob(jobId);
        const counts = countStates((job === undefined ? [] : await outcomes.ofJob(job)).map(({ state }) => state));
        if (over || (job !== undefined && counts.pending === 0)) return counts;
      }
      await pause(progressMs, undefined, { signal });
    }
  } finally {
    client.destroy();
  }
}

async function messagesTotal(stack: DemoStack, signal: AbortSignal): Promise<number> {
  return (await messages(stack, 0, signal)).total;
}

/** Every message that reached the platform after the first `before`. */
async function messagesAfter(stack: DemoStack, before: number, signal: AbortSignal): Promise<ReceivedMessage[]> {
  const total = await messagesTotal(stack, signal);
  const { data } = await messages(stack, total - before, signal);
  return data.map(({ to, request }) => ({ to, components: request.template.components }));
}

async function messages(stack: DemoStack, limit: number, signal: AbortSignal) {
  const route = `GET /_control/messages?template=${orderUpdate.name}&limit=${limit}`;
  const { json } = await call({ baseUrl: stack.platformUrl, route, signal });
  return v.parse(MessagesSchema, json);
}

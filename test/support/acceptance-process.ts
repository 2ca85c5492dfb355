import { existsSync, readFileSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { documentClient } from '../../lib/aws/dynamodb.ts';
import { queueClient } from '../../lib/aws/sqs.ts';
import { tableOf } from '../../lib/aws/table.ts';
import { acceptedDispatchesStore } from '../../lib/messages/accept/accepted-dispatches-store.ts';
import { acceptOnce, bodyHashOf } from '../../lib/messages/accept/idempotency.ts';
import { idempotencyStore } from '../../lib/messages/accept/idempotency-store.ts';
import { messageQueue } from '../../lib/messages/accept/message-queue.ts';
import type { DispatchHead } from '../../lib/messages/dispatch/head.ts';
import { senderWakeQueue } from '../../lib/messages/dispatch/sender-wake-queue.ts';
import { withoutDuplicates } from '../../lib/messages/request/duplicates.ts';
import { parseSendRequest } from '../../lib/messages/request/send-request.ts';
import { wakeForAccepted } from '../../lib/messages/sender/wake-accepted.ts';
import { acceptDispatch } from './begun-dispatches.ts';
import { makeDispatch } from './made-dispatches.ts';

/* This process accepts the request of the event on stdin, in front of the servers at the addresses in its argument. It
   prints the dispatch of the answer and its own peak memory in bytes. */

const dispatchId = '01JD0000000000000000000000';
const [endpoint = ''] = process.argv.slice(2);
const config = { region: 'us-east-1', credentials: { accessKeyId: 'local', secretAccessKey: 'local' }, endpoint };
const documents = documentClient(config);
const queue = messageQueue(queueClient(config), `${endpoint}/queue`);
const wake = senderWakeQueue({ client: queueClient(config), url: `${endpoint}/queue` });
const ports = {
  records: idempotencyStore(tableOf(documents, 'messages')),
  budgets: { release: async () => undefined },
  acceptance: acceptedDispatchesStore(tableOf(documents, 'messages', { nowMs: Date.now })),
  wake: (head: DispatchHead, signal: AbortSignal) =>
    wakeForAccepted(head, { limitOf: async () => 80, wake, nowMs: Date.now }, signal),
  urgentQueue: queue,
  limitOf: async () => 80,
  remainingMs: () => 29_000,
  nowMs: Date.now,
  newDispatchId: () => dispatchId,
};

const log = process.stdout.write.bind(process.stdout);
process.stdout.write = () => true;
// The runtime gives a function the same event: the body is text.
const event = JSON.parse(await text(process.stdin)) as { readonly body: string };
const body: unknown = JSON.parse(event.body);
const scope = { clientId: 1001, did: '5491100000001', key: 'k' };
const accepted = await acceptOnce(scope, { bodyHash: bodyHashOf(body) }, ports, async () => {
  const { kept } = withoutDuplicates(parseSendRequest(body).recipients);
  await acceptDispatch(makeDispatch(kept, { dispatchId }), ports);
  return { dispatchId };
});
log(JSON.stringify({ ...accepted, bodyBytes: event.body.length, peakBytes: peakBytes() }));

/** On Linux `maxRSS` also counts the parent's memory, which the child had until the program started. */
function peakBytes(): number {
  const status = '/proc/self/status';
  const [, kilobytes] = existsSync(status) ? (/VmHWM:\s+(\d+) kB/.exec(readFileSync(status, 'utf8')) ?? []) : [];
  return Number(kilobytes ?? process.resourceUsage().maxRSS) * 1_024;
}

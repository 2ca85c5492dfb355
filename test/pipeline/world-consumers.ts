import { type SliceKey, sliceOf } from '../../lib/messages/dispatch/slice.ts';
import type { Slices } from '../../lib/messages/dispatch/slice-store.ts';
import {
  type InboundMessage,
  type InboundSink,
  inboundMessageVersion,
} from '../../lib/messages/inbound/inbound-message.ts';
import { processInbound } from '../../lib/messages/inbound/process-inbound.ts';
import { processReceipts } from '../../lib/messages/receipts/process-receipts.ts';
import type { ReceiptMessage } from '../../lib/messages/receipts/receipt.ts';
import type { Posting } from '../../lib/messages/send/platform-messages.ts';
import type { LogEvent, LogFacts } from '../../lib/observe/log.ts';
import { stopWords } from '../../lib/opt-outs/stop-words.ts';
import { defaultEventTypes, type ServiceEvent } from '../../lib/webhooks/event.ts';
import { noCosts } from '../support/no-costs.ts';
import { type Addressed, platformIdOf } from './platform-model.ts';
import type { ModelDelivery, QueueModel } from './queue-model.ts';
import type { Run } from './runs.ts';
import type { WorldParts } from './world-parts.ts';

export interface RunClock {
  readonly nowMs: () => number;
  readonly remainingMs: () => number;
  readonly invocation: string;
}

export interface Consumer {
  readonly name: string;
  readonly queue: QueueModel;
  readonly workers: number;
  readonly batchSize: number;
  readonly gatherMs?: number | undefined;
  readonly timeoutMs: number;
  /** Returns the ids of messages that are to come again. */
  readonly handle: (batch: readonly ModelDelivery[], run: Run, clock: RunClock) => Promise<readonly string[]>;
}

/** Returns the consumers of what follows the calls, as they are deployed. */
export function consumersOf(world: WorldParts): Consumer[] {
  const { receipts, inbound } = world.queues;
  return [
    { name: 'receipts', queue: receipts, workers: 10, batchSize: 500, timeoutMs: 120_000, handle: recorder(world) },
    { name: 'inbound', queue: inbound, workers: 4, batchSize: 10, timeoutMs: 60_000, handle: hearer(world) },
  ];
}

/** Records every claim of a slice that its run knows of. */
export function noted(world: WorldParts, slices: Slices): Slices {
  return {
    ...slices,
    claim: async (claim) => {
      const taken = await slices.claim(claim);
      if (taken.kind === 'claimed') world.claimedAt.set(nameOfSlice(claim.key), world.moment());
      return taken;
    },
  };
}

export function noteCall(world: WorldParts, { request }: Posting): void {
  const messageId = messageIdIn(request);
  const end = messageId.lastIndexOf('-');
  const key = sliceOf({ dispatchId: messageId.slice(0, end), index: Number(messageId.slice(end + 1)) });
  world.calls.push({ messageId, claimedAt: world.claimedAt.get(nameOfSlice(key)) ?? 0, atMs: world.time.nowMs });
}

function nameOfSlice({ dispatchId, slice }: SliceKey): string {
  return `${dispatchId} ${slice}`;
}

export function inboundSink({ queues }: WorldParts, run: Run): InboundSink {
  return {
    send: (messages) =>
      run.call('sendInbound', () => {
        for (const message of messages) {
          queues.inbound.send(JSON.stringify({ version: inboundMessageVersion, ...message }));
        }
      }),
  };
}

/** The platform's refusal of marketing is a stop of that person, once it is recorded. */
function hearer(world: WorldParts): Consumer['handle'] {
  return async (batch, run, clock) => {
    const failed = await processInbound(batch, {
      optOuts: async () => world.stores.ofHearing(run),
      // Other tests cover the words of people and their events. This consumer records the platform's refusals only.
      words: async () => stopWords,
      channels: { findNumber: async () => undefined },
      directory: { findDid: async () => undefined },
      noteReplacedIds: async () => undefined,
      answered: async () => undefined,
      addressOf: async () => undefined,
      events: { send: async () => undefined },
      remainingMs: () => clock.remainingMs(),
    });
    for (const { messageId, body } of batch) {
      if (failed.includes(messageId)) continue;
      const { wabaId, phoneNumberId, words } = JSON.parse(body) as InboundMessage;
      for (const word of words) {
        if (word.kind !== 'refused') continue;
        const storedAt = world.moment();
        const scope = { kind: 'number', wabaId, phoneNumberId } as const;
        world.stops.push(...word.recipients.map((recipient) => ({ scope, recipient, storedAt })));
      }
    }
    return failed;
  };
}

function recorder(world: WorldParts): Consumer['handle'] {
  return async (batch, run, clock) => {
    const common = shared(world, run, clock, 'receipts');
    return await processReceipts(batch, {
      ...common,
      ...world.stores.ofReceipts(run),
      inbound: inboundSink(world, run),
      countCost: noCosts.countCost,
      wanted: async () => defaultEventTypes,
    });
  };
}

export function shared(parts: WorldParts, run: Run, { nowMs, remainingMs }: RunClock, functionName: string) {
  const { rules, logged, told } = parts;
  return {
    nowMs,
    remainingMs,
    random: rules.random,
    pause: (ms: number) => run.pause(ms),
    log: (event: LogEvent, facts: LogFacts) => {
      logged.set(event, (logged.get(event) ?? 0) + 1);
      rules.log?.(functionName, event, facts);
    },
    events: {
      send: (events: readonly ServiceEvent[]) =>
        run.call('sendEvents', () => {
          // What is told again has the same id, and changes nothing.
          for (const event of events) {
            if (told.has(event.id)) parts.toldAgain += 1;
            else told.set(event.id, event);
          }
        }),
    },
  };
}

function messageIdIn(request: Posting['request']): string {
  return String(request['biz_opaque_callback_data']);
}

export async function post(
  world: WorldParts,
  { request, phoneNumberId }: Posting,
): Promise<{ platformMessageId: string }> {
  const { platform } = world;
  const messageId = messageIdIn(request);
  const before = platform.posts.length;
  try {
    return await platform.post({ messageId, phoneNumberId, to: String(request.to ?? request.recipient) });
  } finally {
    const took = platform.posts.slice(before).some((each) => each.messageId === messageId && each.taken);
    if (took) tellReceipts(world, { messageId, phoneNumberId });
  }
}

function tellReceipts({ table, queues, rules, time }: WorldParts, post: Addressed): void {
  const { messageId } = post;
  const end = messageId.lastIndexOf('-');
  const head = table.heads.get(messageId.slice(0, end));
  if (head === undefined) return;
  const { dispatchId, wabaId, phoneNumberId } = head;
  const index = Number(messageId.slice(end + 1));
  for (const { afterMs, ...told } of rules.receiptsOf(post)) {
    const platformMessageId = platformIdOf(messageId);
    const receipt = { dispatchId, index, ...told, atMs: time.nowMs + afterMs, platformMessageId };
    const message: ReceiptMessage = { version: 1, numbers: [{ wabaId, phoneNumberId, receipts: [receipt] }] };
    void time.sleep(afterMs).then(() => queues.receipts.send(JSON.stringify(message)));
  }
}

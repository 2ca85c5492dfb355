import * as v from 'valibot';
import { queuedMessage } from '../../aws/queued-message.ts';
import { correlated } from '../../observe/correlation.ts';
import { count } from '../../observe/metrics.ts';
import { nameOf } from '../../observe/name-of.ts';
import type { ServiceEvent } from '../../webhooks/event.ts';
import { type DispatchMessage, DispatchMessageSchema, dispatchMessageVersion } from '../job.ts';
import { paceLearning } from '../pace/learned-pace.ts';
import { batchLog } from './batch-log.ts';
import type { BatchPorts } from './batch-ports.ts';
import { type BatchRecord, claimantOf } from './claim.ts';
import { dispatchMessage } from './dispatch-message.ts';
import type { Delivery, DispatchPorts } from './dispatch-ports.ts';
import { deliverAgain, type Ending } from './ending.ts';
import { gatheredJobStates } from './gathered-job-states.ts';
import { guardBatch } from './guarded-batch.ts';
import { missedSlots } from './missed-slots.ts';
import { placeUnlessParked } from './place-waiting.ts';
import type { Placed } from './slots.ts';

/**
 * Works off one batch of the dispatch queue and returns the ids of what must be delivered again. What the platform
 * took, or may have taken, is never handed to it again (R13), nor what a receipt proves taken (D39); every message ends
 * (R14, D29); one that cannot be read fails alone (R18). Each leaves in the slot that its number has for it (D43). Endings are recorded, then told (D34, D41), then acknowledged.
 * One write a message, one a batch (R15).
 */
export async function dispatchBatch(deliveries: readonly Delivery[], ports: DispatchPorts): Promise<string[]> {
  const messages = deliveries.map((delivery) => messageOf(delivery, ports));
  const readable = messages.filter((message) => message !== undefined);
  const guarded = await guardBatch(readable, ports);
  const places = (guarded.heldBack ?? placeUnlessParked(readable, ports)).values();
  const lines = batchLog(ports);
  const shared: BatchPorts = {
    ...ports,
    log: lines.log,
    send: guarded.send,
    jobs: gatheredJobStates(ports.jobStates.of, ports),
    learning: paceLearning(ports),
    holds: ports.newHolds(),
    missed: missedSlots(ports),
  };
  const endings = await Promise.all(
    deliveries.map(async (delivery, position) => {
      const place = messages[position] === undefined ? undefined : places.next().value;
      if (place === undefined) return deliverAgain;
      const placed = await place;
      const attempt = { delivery, at: claimantOf(ports.invocation, position) };
      return await correlated(placed.message.correlationId, async () => endingOf(placed, attempt, shared));
    }),
  );
  lines.end(deliveries.length);
  const taken = Object.fromEntries(
    endings.flatMap((ending) => {
      if (ending.taken === undefined) return [];
      const { dispatchId, ...facts } = ending.taken;
      return [[dispatchId, facts]];
    }),
  );
  const recorded = Object.keys(taken).length > 0 && (await batchIsRecorded(taken, ports));
  const expected = endings.filter(({ receiptExpected }) => receiptExpected).length;
  if (recorded && expected > 0) count('ReceiptsExpected', expected);
  const unrecorded = (ending: Ending) => ending.taken !== undefined && !recorded;
  // What is not recorded is not told either: it may yet end otherwise.
  const events = endings.flatMap((ending) => (unrecorded(ending) ? [] : ending.events));
  const told = events.length > 0 && (await eventsAreQueued(events, ports));
  // A placed message was read, and its ending stands where its delivery does.
  await shared.holds.taken(
    endings.flatMap(({ endsPause }, position) => (endsPause ? (messages[position]?.jobId ?? []) : [])),
  );
  await guarded.end();
  const comesAgain = endings.map((ending) => {
    return !ending.acknowledged || unrecorded(ending) || (ending.events.length > 0 && !told);
  });
  return deliveries.filter((_, position) => comesAgain[position]).map(({ messageId }) => messageId);
}

/**
 * When the batch record cannot be written, its messages are left claimed and delivered again: by then the claims are
 * too old and no record vouches for them, so they end unknown, although the platform took them. Never sent again.
 */
async function batchIsRecorded(taken: BatchRecord, ports: DispatchPorts): Promise<boolean> {
  const total = Object.keys(taken).length;
  for (let attempt = 1; ; attempt += 1) {
    try {
      await ports.claims.recordBatch(ports.invocation, taken);
      const held = Object.values(taken).filter((each) => each.held !== undefined).length;
      if (total > held) count('MessagesSent', total - held);
      if (held > 0) count('MessagesHeld', held);
      return true;
    } catch (error) {
      ports.log('dispatch.batch_not_recorded', { count: total, attempt, error: nameOf(error) });
      if (attempt === 3 || ports.remainingMs() < 5_000) {
        logUnrecorded(taken, ports);
        return false;
      }
      await ports.pause(500 * attempt);
    }
  }
}

/** They end `unknown`: whoever settles them by hand finds here that the platform took them. */
function logUnrecorded(taken: BatchRecord, ports: DispatchPorts): void {
  for (const [dispatchId, { held }] of Object.entries(taken)) {
    if (held === undefined) ports.log('dispatch.sent', { dispatchId });
    else ports.log('dispatch.held', { dispatchId, code: held });
  }
}

async function eventsAreQueued(events: readonly ServiceEvent[], ports: DispatchPorts): Promise<boolean> {
  try {
    await ports.events.send(events);
    return true;
  } catch (error) {
    ports.log('event.not_queued', { count: events.length, error: nameOf(error) });
    return false;
  }
}

function messageOf(delivery: Delivery, ports: DispatchPorts): DispatchMessage | undefined {
  try {
    return v.parse(DispatchMessageSchema, queuedMessage(delivery.body, dispatchMessageVersion));
  } catch (error) {
    ports.log('dispatch.error', { error: nameOf(error) });
    return undefined;
  }
}

async function endingOf(
  placed: Placed,
  attempt: { readonly delivery: Delivery; readonly at: string },
  ports: BatchPorts,
): Promise<Ending> {
  try {
    return await dispatchMessage(placed, attempt, ports);
  } catch (error) {
    ports.log('dispatch.error', { error: nameOf(error) });
    return deliverAgain;
  }
}

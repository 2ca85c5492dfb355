import { randomUUID } from 'node:crypto';
import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { tableOf } from '../../lib/aws/table.ts';
import { acceptedDispatchesStore } from '../../lib/messages/accept/accepted-dispatches-store.ts';
import { parameterStore } from '../../lib/messages/accept/parameter-store.ts';
import { dispatchItemStore } from '../../lib/messages/dispatch/item-store.ts';
import { sliceStore } from '../../lib/messages/dispatch/slice-store.ts';
import type { WholeDispatch } from '../../lib/messages/dispatch/whole-dispatch.ts';
import { backlogStore } from '../../lib/messages/fan-out/dispatch-backlog-store.ts';
import { dispatchRoundsStore } from '../../lib/messages/fan-out/dispatch-rounds-store.ts';
import { breakerStore } from '../../lib/messages/holds/breaker-store.ts';
import { holdStore } from '../../lib/messages/holds/hold-store.ts';
import { paceStore } from '../../lib/messages/pace/pace-store.ts';
import { urgentStore } from '../../lib/messages/pace/urgent-store.ts';
import { addressStore } from '../../lib/messages/receipts/address-store.ts';
import { provenSlicesStore } from '../../lib/messages/receipts/proven-slices-store.ts';
import { receiptStore } from '../../lib/messages/receipts/receipt-store.ts';
import { unknownOutcomesStore } from '../../lib/messages/receipts/unknown-outcomes-store.ts';
import { snapshotStore } from '../../lib/messages/send/snapshot-store.ts';
import { optOutLook, optOutWriter } from '../../lib/opt-outs/opt-out-store.ts';
import { personNames } from '../../lib/opt-outs/person-name.ts';
import { seededRandom } from '../support/faults.ts';
import { meterRequests, type RequestCost, type RequestMeter } from '../support/request-meter.ts';
import type { VirtualTime } from '../support/virtual-time.ts';
import type { Meter } from './meter.ts';
import { quietRules } from './quiet-world.ts';
import { PipelineWorld, type WorldRules } from './world.ts';
import type { WorldStores } from './world-stores.ts';

/*
 * Meters dispatches on the real table. Virtual time stands still while the table works, but for the given duration of
 * each request. Queues and platform are models.
 */

export interface MeteredDispatch {
  readonly dispatch: WholeDispatch;
  /** The dispatch is accepted so long after the beginning. */
  readonly afterMs: number;
}

export interface MeteredRun extends Partial<Pick<WorldRules, 'log' | 'delayJitterMs' | 'gatherMs'>> {
  readonly dispatches: readonly MeteredDispatch[];
  /** Acceptance, fan-out and workers have a client each, so that each is metered apart. */
  readonly clients: readonly [DynamoDBDocumentClient, DynamoDBDocumentClient, DynamoDBDocumentClient];
  readonly table: string;
  /** The platform takes so long for a message. */
  readonly platformMs?: number;
  /** Each request of the table takes so long. */
  readonly storeMs?: number;
}

export interface Metered {
  readonly posted: readonly string[];
  readonly store: Readonly<Record<'acceptance' | 'fanOut' | 'dispatch', RequestCost>>;
  /** Counts runs and queue requests, without acceptance. */
  readonly meter: Meter;
}

/** Every metered table has this key of people. */
export const nameOf = personNames(new Uint8Array(32));

/** Each of these dispatches ends earlier. */
const longestMs = 24 * 3_600_000;

export async function meterDispatches(options: MeteredRun): Promise<Metered> {
  const { dispatches, clients, table, platformMs = 200, storeMs = 0, ...rules } = options;
  const [acceptance, fanOut, dispatch] = clients.map(meterRequests) as [RequestMeter, RequestMeter, RequestMeter];
  const meters = { acceptance, fanOut, dispatch };
  const isBusy = () => Object.values(meters).some((meter) => meter.underWay() > 0);
  const world = new PipelineWorld(quietRules({ ...rules, answerMs: () => platformMs, latencyMs: () => 0 }), (time) => {
    for (const client of clients) takeTime(client, time, storeMs);
    return { ...storesOn(clients, table, time), isBusy };
  });
  for (const { dispatch, afterMs } of dispatches) void world.time.sleep(afterMs).then(() => world.accept(dispatch));
  await world.run(longestMs);
  return {
    posted: world.platform.posts.filter(({ taken }) => taken).map(({ messageId }) => messageId),
    store: { acceptance: acceptance.taken(), fanOut: fanOut.taken(), dispatch: dispatch.taken() },
    meter: world.meter,
  };
}

/** From now on every request takes so long in virtual time. */
function takeTime(client: DynamoDBDocumentClient, time: VirtualTime, ms: number): void {
  if (ms === 0) return;
  const send = client.send.bind(client) as (...args: unknown[]) => Promise<unknown>;
  const slowly = async (...args: unknown[]) => {
    await time.sleep(ms);
    return await send(...args);
  };
  Object.assign(client, { send: slowly });
}

/** Builds the stores as they are deployed (lib/messages/deployed/). */
function storesOn(
  [acceptance, fanOut, worker]: MeteredRun['clients'],
  table: string,
  time: VirtualTime,
): Omit<WorldStores, 'isBusy'> {
  const nowMs = () => time.nowMs;
  const random = seededRandom(2);
  const backoff = (firstMs: number, longestMs: number) => (attempt: number) =>
    time.sleep(random() * Math.min(longestMs, firstMs * 2 ** attempt));
  const pause = backoff(10, 200);
  // A hundred dispatches may begin at once, and one reserves at a time.
  const patient = backoff(100, 3_200);
  const paces = (client: DynamoDBDocumentClient) =>
    paceStore(tableOf(client, table, { nowMs }), { newWriter: randomUUID, pause: client === fanOut ? patient : pause });
  const { find, list } = acceptedDispatchesStore(tableOf(fanOut, table, { nowMs }), pause);
  const dispatches = dispatchRoundsStore(tableOf(fanOut, table), {
    find,
    list,
    recipientsFrom: parameterStore(tableOf(fanOut, table)).read,
  });
  const accepted = acceptedDispatchesStore(tableOf(acceptance, table, { nowMs }), pause);
  const looking = { backlog: backlogStore(tableOf(fanOut, table)), withdraw: accepted.withdraw };
  const dispatchesOfWorkers = acceptedDispatchesStore(tableOf(worker, table, { nowMs }), pause);
  const working = {
    slices: sliceStore(tableOf(worker, table, { nowMs })),
    unknowns: unknownOutcomesStore(tableOf(worker, table)),
    paces: paces(worker),
    urgentCapacity: urgentStore(tableOf(worker, table)),
    states: dispatchItemStore(tableOf(worker, table)),
    look: snapshotStore(tableOf(worker, table, { pause })),
    wabas: holdStore(tableOf(worker, table, { nowMs })),
    beginStraight: async (...[chunk]: Parameters<typeof dispatchesOfWorkers.beginStraight>) =>
      void (await dispatchesOfWorkers.beginStraight(chunk)),
    breakers: breakerStore(tableOf(worker, table, { nowMs })),
    stoppedAmong: optOutLook(tableOf(worker, table, { pause }), async () => nameOf).stoppedAmong,
  };
  const messages = tableOf(worker, table, { pause });
  const recording = {
    records: receiptStore(messages),
    slices: provenSlicesStore(messages),
    addressesOf: addressStore(messages),
    changeHolds: working.wabas.change,
  };
  return {
    ofAcceptance: () => accepted,
    ofLook: () => looking,
    ofFanOut: () => ({
      dispatches,
      states: dispatchItemStore(tableOf(fanOut, table)),
      slices: sliceStore(tableOf(fanOut, table, { nowMs })),
      paces: paces(fanOut),
    }),
    ofWorker: () => working,
    ofWatcher: () => ({ states: working.states, holds: working.wabas, isDown: async () => false }),
    ofReceipts: () => recording,
    ofHearing: () => optOutWriter(messages, nameOf),
  };
}

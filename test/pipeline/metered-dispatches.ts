import { randomUUID } from 'node:crypto';
import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { tableOf } from '../../lib/aws/table.ts';
import { acceptedDispatchesStore } from '../../lib/messages/accept/accepted-dispatches-store.ts';
import { dispatchItemStore } from '../../lib/messages/dispatch/item-store.ts';
import { sliceStore } from '../../lib/messages/dispatch/slice-store.ts';
import type { WholeDispatch } from '../../lib/messages/dispatch/whole-dispatch.ts';
import { itemsWithout } from '../../lib/messages/erase/erased-items-store.ts';
import { breakerStore } from '../../lib/messages/holds/breaker-store.ts';
import { holdStore } from '../../lib/messages/holds/hold-store.ts';
import { knownPaceStore } from '../../lib/messages/pace/known-pace-store.ts';
import { addressStore } from '../../lib/messages/receipts/address-store.ts';
import { provenSlicesStore } from '../../lib/messages/receipts/proven-slices-store.ts';
import { receiptStore } from '../../lib/messages/receipts/receipt-store.ts';
import { unknownOutcomesStore } from '../../lib/messages/receipts/unknown-outcomes-store.ts';
import { countsOf } from '../../lib/messages/report/read-report.ts';
import { reportStore } from '../../lib/messages/report/report-store.ts';
import { snapshotStore } from '../../lib/messages/send/snapshot-store.ts';
import { backlogStore } from '../../lib/messages/sender/backlog-store.ts';
import { senderDispatchesStore } from '../../lib/messages/sender/dispatches-store.ts';
import { numberSightStore } from '../../lib/messages/sender/number-sight-store.ts';
import { placesStore } from '../../lib/messages/sender/places-store.ts';
import { senderStateStore } from '../../lib/messages/sender/sender-state-store.ts';
import { smallRequestStore } from '../../lib/messages/sender/small-request-store.ts';
import { announcedStop } from '../../lib/messages/sender/stop-news.ts';
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
  /** Acceptance, senders, workers of small requests and sweeps have a client each, so that each is metered apart. */
  readonly clients: readonly [
    acceptance: DynamoDBDocumentClient,
    sender: DynamoDBDocumentClient,
    small: DynamoDBDocumentClient,
    sweep: DynamoDBDocumentClient,
  ];
  readonly table: string;
  /** The platform takes so long for a message. */
  readonly platformMs?: number;
  /** Each request of the table takes so long. */
  readonly storeMs?: number;
}

export interface Metered {
  readonly posted: readonly string[];
  readonly store: Readonly<Record<'acceptance' | 'dispatch' | 'small' | 'sweep', RequestCost>>;
  /** Counts runs and queue requests, without acceptance. */
  readonly meter: Meter;
}

/** Every metered table has this key of people. */
export const nameOf = personNames(new Uint8Array(32));

/** Each of these dispatches ends earlier. */
const longestMs = 24 * 3_600_000;

export async function meterDispatches(options: MeteredRun): Promise<Metered> {
  const { dispatches, clients, table, platformMs = 200, storeMs = 0, ...rules } = options;
  const [acceptance, dispatch, small, sweep] = clients;
  const meters: Readonly<Record<keyof Metered['store'], RequestMeter>> = {
    acceptance: meterRequests(acceptance),
    dispatch: meterRequests(dispatch),
    small: meterRequests(small),
    sweep: meterRequests(sweep),
  };
  const isBusy = () => Object.values(meters).some((meter) => meter.underWay() > 0);
  const world = new PipelineWorld(quietRules({ ...rules, answerMs: () => platformMs, latencyMs: () => 0 }), (time) => {
    for (const client of clients) takeTime(client, time, storeMs);
    return { ...storesOn(clients, table, time), isBusy };
  });
  for (const { dispatch, afterMs } of dispatches) void world.time.sleep(afterMs).then(() => world.accept(dispatch));
  await world.run(longestMs);
  return {
    posted: world.platform.posts.filter(({ taken }) => taken).map(({ messageId }) => messageId),
    store: {
      acceptance: meters.acceptance.taken(),
      dispatch: meters.dispatch.taken(),
      small: meters.small.taken(),
      sweep: meters.sweep.taken(),
    },
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
  [acceptance, sender, small, sweep]: MeteredRun['clients'],
  name: string,
  time: VirtualTime,
): Omit<WorldStores, 'isBusy'> {
  const nowMs = () => time.nowMs;
  const random = seededRandom(2);
  const pause = (attempt: number) => time.sleep(random() * Math.min(200, 10 * 2 ** attempt));
  const accepted = acceptedDispatchesStore(tableOf(acceptance, name, { nowMs }), pause);
  const ofTry = (client: DynamoDBDocumentClient) => {
    const table = tableOf(client, name, { nowMs, pause });
    const states = dispatchItemStore(table);
    return {
      slices: sliceStore(table),
      unknowns: unknownOutcomesStore(table),
      paces: knownPaceStore(table, { newWriter: randomUUID }),
      states: { ...states, stop: announcedStop(states.stop, backlogStore(table)) },
      wabas: holdStore(table),
      breakers: breakerStore(table),
      stoppedAmong: optOutLook(table, async () => nameOf).stoppedAmong,
      places: placesStore(table, 60_000),
    };
  };
  const table = tableOf(sender, name, { nowMs, pause });
  const report = reportStore(table, { consistent: true });
  const statesOf = senderStateStore(table);
  const backlog = backlogStore(table);
  const sending = {
    ...ofTry(sender),
    ...{ statesOf, backlog },
    dispatches: senderDispatchesStore(table, acceptedDispatchesStore(table, pause)),
    progressOf: (dispatchId: string) => countsOf(report, dispatchId),
  };
  const swept = tableOf(sweep, name, { nowMs, pause });
  const tableOfSmall = tableOf(small, name, { nowMs, pause });
  const { begin, beginStraight } = acceptedDispatchesStore(tableOfSmall, pause);
  const working = {
    ...ofTry(small),
    lookAt: numberSightStore(tableOfSmall),
    dispatches: {
      ...smallRequestStore(tableOfSmall, itemsWithout),
      look: snapshotStore(tableOfSmall),
      begin,
      beginStraight,
    },
  };
  const recording = {
    records: receiptStore(table),
    slices: provenSlicesStore(table),
    addressesOf: addressStore(table),
    changeHolds: sending.wabas.change,
  };
  return {
    ofAcceptance: () => accepted,
    ofSender: () => sending,
    ofSmallRequests: () => working,
    ofSweep: () => ({
      ...{ backlog: backlogStore(swept), holds: holdStore(swept), breakers: breakerStore(swept) },
      stateOf: async (key) => (await senderStateStore(swept)(key).change(() => undefined)).state,
    }),
    ofCancellation: () => ({ stop: dispatchItemStore(table).stop, backlog }),
    ofReceipts: () => recording,
    ofHearing: () => optOutWriter(table, nameOf),
  };
}

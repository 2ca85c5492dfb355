import { randomUUID } from 'node:crypto';
import type { SQSClient } from '@aws-sdk/client-sqs';
import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { tableOf } from '../../lib/aws/table.ts';
import { dispatchItemStore } from '../../lib/messages/dispatch/item-store.ts';
import { senderWakeQueue } from '../../lib/messages/dispatch/sender-wake-queue.ts';
import { sliceStore } from '../../lib/messages/dispatch/slice-store.ts';
import { breakerStore } from '../../lib/messages/holds/breaker-store.ts';
import { holdStore } from '../../lib/messages/holds/hold-store.ts';
import { runHolds } from '../../lib/messages/holds/run-holds.ts';
import { knownPaceStore } from '../../lib/messages/pace/known-pace-store.ts';
import { unknownOutcomesStore } from '../../lib/messages/receipts/unknown-outcomes-store.ts';
import { composeMessage } from '../../lib/messages/request/compose.ts';
import { backlogStore } from '../../lib/messages/sender/backlog-store.ts';
import { placesStore } from '../../lib/messages/sender/places-store.ts';
import { seenHolds } from '../../lib/messages/sender/seen-holds.ts';
import type { SenderPorts, SliceHolds } from '../../lib/messages/sender/sender-ports.ts';
import { announcedStop } from '../../lib/messages/sender/stop-news.ts';
import { noStops } from './memory-opt-outs.ts';
import { eachCall, type TableWorkers, type Through } from './table-workers.ts';

export interface SenderWorld {
  readonly client: DynamoDBDocumentClient;
  readonly table: string;
  readonly queue: SQSClient;
  readonly queueUrl: string;
}

export interface GivenTry extends Pick<SenderPorts, 'events'> {
  readonly send: SenderPorts['platform']['send'];
  readonly probe?: SenderPorts['platform']['probe'];
  readonly random?: () => number;
  readonly log?: SenderPorts['process']['log'];
}

export interface TableRun {
  readonly workers: TableWorkers;
  readonly living: Through;
}

/** Returns what a try of a slice is made with, as deployed, over the real stores, in the virtual time of `workers`. */
export function tableSliceTry(
  { client, table, queue, queueUrl }: SenderWorld,
  { events, send, probe = async () => ({ maySend: true }), random = () => 0, log = () => undefined }: GivenTry,
  { workers, living }: TableRun,
) {
  const nowMs = () => workers.time.nowMs;
  const pause = async () => undefined;
  const through: Through = (call) => living(() => workers.ask(call));
  const outside = <Store extends object>(store: Store) => eachCall(store, through);
  const access = tableOf(client, table, { nowMs, pause });
  const stored = outside(dispatchItemStore(access));
  const states = { ...stored, stop: announcedStop(stored.stop, outside(backlogStore(access))) };
  const wabas = outside(holdStore(access, { pause }));
  const ofSlice: SliceHolds['ofSlice'] = (saw) => runHolds({ states, wabas: seenHolds(wabas, saw), nowMs, log });
  const ports = {
    slices: outside(sliceStore(access)),
    unknowns: outside(unknownOutcomesStore(access)),
    holds: { breakers: outside(breakerStore(access)), ofSlice },
    paces: outside(knownPaceStore(access, { newWriter: randomUUID, pause })),
    // Its patience is of real time, which passes beside virtual time on a busy machine.
    places: outside(placesStore(access, 60_000)),
    platform: outside({ ready: async () => undefined, send, probe }),
    people: noStops,
    events: outside(events),
    noteSent: async () => undefined,
    compose: composeMessage,
    process: { nowMs, random, pause: (ms: number) => workers.time.sleep(ms), log },
  };
  const { wake } = outside({ wake: senderWakeQueue({ client: queue, url: queueUrl }) });
  return { ports, access, outside, pause, states, wake };
}

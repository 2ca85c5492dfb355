import { randomUUID } from 'node:crypto';
import type { SQSClient } from '@aws-sdk/client-sqs';
import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { tableOf } from '../../lib/aws/table.ts';
import { acceptedDispatchesStore } from '../../lib/messages/accept/accepted-dispatches-store.ts';
import { dispatchItemStore } from '../../lib/messages/dispatch/item-store.ts';
import { senderWakeQueue } from '../../lib/messages/dispatch/sender-wake-queue.ts';
import { sliceStore } from '../../lib/messages/dispatch/slice-store.ts';
import { breakerStore } from '../../lib/messages/holds/breaker-store.ts';
import { holdStore } from '../../lib/messages/holds/hold-store.ts';
import { runHolds } from '../../lib/messages/holds/run-holds.ts';
import { knownPaceStore } from '../../lib/messages/pace/known-pace-store.ts';
import { unknownOutcomesStore } from '../../lib/messages/receipts/unknown-outcomes-store.ts';
import { countsOf } from '../../lib/messages/report/read-report.ts';
import { reportStore } from '../../lib/messages/report/report-store.ts';
import { composeMessage } from '../../lib/messages/request/compose.ts';
import { backlogStore } from '../../lib/messages/sender/backlog-store.ts';
import { senderDispatchesStore } from '../../lib/messages/sender/dispatches-store.ts';
import { wakingByLimit } from '../../lib/messages/sender/number-parts.ts';
import { placesStore } from '../../lib/messages/sender/places-store.ts';
import { asAccepted } from '../../lib/messages/sender/revalidate-dispatch.ts';
import { seenHolds } from '../../lib/messages/sender/seen-holds.ts';
import type { SenderPorts } from '../../lib/messages/sender/sender-ports.ts';
import { senderStateStore } from '../../lib/messages/sender/sender-state-store.ts';
import { tellEnd } from '../../lib/messages/sender/tell-end.ts';
import type { DeployedSender } from '../../lib/messages/sender/wake-handler.ts';
import { noStops } from './memory-opt-outs.ts';
import { noCosts } from './no-costs.ts';
import { eachCall, type TableWorkers, type Through } from './table-workers.ts';

interface Given extends Pick<SenderPorts, 'events'>, Partial<Pick<SenderPorts, 'judge'>> {
  readonly log?: SenderPorts['process']['log'];
  readonly send: SenderPorts['platform']['send'];
  readonly limitPerSecond: number;
}

/** Returns what a sender's function is wired with, over the real stores and queue, in the virtual time of `workers`. */
export function tableSender(
  { client, table, queue, queueUrl }: SenderWorld,
  { events, send, limitPerSecond, log = () => undefined, judge = async (dispatch) => asAccepted(dispatch) }: Given,
  { workers, living }: { readonly workers: TableWorkers; readonly living: Through },
): DeployedSender {
  const nowMs = () => workers.time.nowMs;
  const pause = async () => undefined;
  const through: Through = (call) => living(() => workers.ask(call));
  const outside = <Store extends object>(store: Store) => eachCall(store, through);
  const access = tableOf(client, table, { nowMs, pause });
  const states = outside(dispatchItemStore(access));
  const wabas = outside(holdStore(access, { pause }));
  const told = outside(events);
  const report = outside(reportStore(access, { consistent: true }));
  const progressOf = (dispatchId: string) => countsOf(report, dispatchId);
  const ending = { progressOf, spend: noCosts.spend, events: told, nowMs, log };
  const stateOf = senderStateStore(access, { pause });
  const waking = outside({
    wake: senderWakeQueue({ client: queue, url: queueUrl }),
    limitOf: async () => limitPerSecond,
  });
  const shared = {
    statesOf: (key) => outside(stateOf(key)),
    backlog: outside(backlogStore(access)),
    dispatches: outside(senderDispatchesStore(access, acceptedDispatchesStore(access, pause))),
    states,
    slices: outside(sliceStore(access)),
    unknowns: outside(unknownOutcomesStore(access)),
    events: told,
    places: outside(placesStore(access)),
    paces: outside(knownPaceStore(access, { newWriter: randomUUID, pause })),
    holds: {
      breakers: outside(breakerStore(access)),
      ofSlice: (saw) =>
        runHolds({ states, wabas: seenHolds(wabas, saw), watchParked: async () => undefined, nowMs, log }),
    },
    platform: outside({ ready: async () => undefined, send, probe: async () => ({ maySend: true }) }),
    people: noStops,
    noteSent: async () => undefined,
    compose: composeMessage,
    judge,
    costStop: noCosts.costStop,
    tellEnd: ({ head }) => tellEnd(head.dispatchId, ending),
    process: { nowMs, random: () => 0, pause: (ms: number) => workers.time.sleep(ms), log },
  } satisfies Partial<ReturnType<DeployedSender>>;
  return (key) => ({ ...shared, ...wakingByLimit(key, waking) });
}

export interface SenderWorld {
  readonly client: DynamoDBDocumentClient;
  readonly table: string;
  readonly queue: SQSClient;
  readonly queueUrl: string;
}

import { decodeSenderWake, encodeSenderWake } from '../../lib/messages/dispatch/sender-wake.ts';
import type { WakeSenders } from '../../lib/messages/dispatch/sender-wake-queue.ts';
import { probeTimeoutMs } from '../../lib/messages/holds/breaker.ts';
import { runHolds } from '../../lib/messages/holds/run-holds.ts';
import { askTemplate } from '../../lib/messages/holds/template-question.ts';
import { composeMessage } from '../../lib/messages/request/compose.ts';
import { firstHeartbeatOf, startHeartbeat } from '../../lib/messages/send/visibility-heartbeat.ts';
import { wakingByLimit } from '../../lib/messages/sender/number-parts.ts';
import { asAccepted } from '../../lib/messages/sender/revalidate-dispatch.ts';
import { seenHolds } from '../../lib/messages/sender/seen-holds.ts';
import { runSender } from '../../lib/messages/sender/sender.ts';
import type { SenderKey, SenderPorts, SliceHolds, SliceTryPorts } from '../../lib/messages/sender/sender-ports.ts';
import { sendSmallRequests } from '../../lib/messages/sender/small-requests.ts';
import { sweepBacklog } from '../../lib/messages/sender/sweep.ts';
import { tellEnd } from '../../lib/messages/sender/tell-end.ts';
import { noCosts } from '../support/no-costs.ts';
import { makeTemplate } from '../support/templates.ts';
import type { Run } from './runs.ts';
import { type Consumer, inboundSink, noteCall, noted, post, type RunClock, shared } from './world-consumers.ts';
import type { WorldParts } from './world-parts.ts';
import type { WorldStores } from './world-stores.ts';

/** A number has so many senders whatever its limit is, where a test says so. */
export interface SendingWorld extends WorldParts {
  readonly parts: number | undefined;
}

/** Returns the consumers of wakes and of small requests, as they are deployed. */
export function sendersOfWorld(world: SendingWorld): Consumer[] {
  const { dispatch, small } = world.queues;
  const { workers, gatherMs } = world.rules;
  const gathering = gatherMs === undefined ? { workers: 100 } : { workers: 1, gatherMs };
  return [
    { name: 'dispatch', queue: dispatch, workers, batchSize: 1, timeoutMs: 120_000, handle: sender(world) },
    { name: 'small', queue: small, ...gathering, batchSize: 10, timeoutMs: 60_000, handle: smallRequests(world) },
  ];
}

/** Queues wakes, under the name that the run calls. */
export function wakesOf({ queues }: WorldParts, run: Run, as = 'wakeSenders'): WakeSenders {
  return (wakes) =>
    run.call(as, () => {
      for (const wake of wakes) queues.dispatch.send(encodeSenderWake(wake), wake.delaySeconds);
    });
}

/** Sweeps the backlog once (sender/sweep.ts). */
export async function sweptBy(world: WorldParts, run: Run, nowMs: () => number): Promise<void> {
  const { stores, rules } = world;
  await sweepBacklog({
    ...stores.ofSweep(run),
    limitOf: async () => rules.limitPerSecond,
    wake: wakesOf(world, run),
    nowMs,
    log: (event, facts) => {
      world.logged.set(event, (world.logged.get(event) ?? 0) + 1);
      rules.log?.('sweep', event, facts);
    },
  });
}

/** As the handler of wakes does it (sender/wake-handler.ts). */
function sender(world: SendingWorld): Consumer['handle'] {
  return async (batch, run, clock) => {
    const again: string[] = [];
    for (const { messageId, body, sentAtMs } of batch) {
      const { delaySeconds, phoneNumberId, ...wake } = decodeSenderWake(body);
      const { part, of = wake.of } = { part: wake.part, of: world.parts };
      if (part >= of) continue;
      const key = { phoneNumberId, part, of };
      const waitedMs = Math.max(0, clock.nowMs() - sentAtMs - 1_000 * delaySeconds);
      try {
        await runSender({ ...key, waitedMs }, senderPorts(world, key, { run, clock }));
      } catch {
        again.push(messageId);
      }
    }
    return again;
  };
}

interface Running {
  readonly run: Run;
  readonly clock: RunClock;
}

function senderPorts(world: SendingWorld, key: SenderKey, running: Running): SenderPorts {
  const { rules } = world;
  const { run, clock } = running;
  const stores = world.stores.ofSender(run);
  const tries = tryPorts(world, stores, running);
  const { events, process } = tries;
  const wake = wakesOf(world, run);
  const waking = wakingByLimit(key, { wake, limitOf: async () => rules.limitPerSecond });
  const { parts } = world;
  const ofTest: Partial<SenderPorts> =
    parts === undefined
      ? {}
      : {
          wake: (own, delaySeconds) =>
            wake(own.map((part) => ({ phoneNumberId: key.phoneNumberId, part, of: parts, delaySeconds }))),
        };
  return {
    ...tries,
    ...waking,
    ...ofTest,
    statesOf: stores.statesOf,
    backlog: stores.backlog,
    places: stores.places,
    dispatches: stores.dispatches,
    states: stores.states,
    paces: stores.paces,
    compose: composeMessage,
    judge: rules.judge ?? (async (dispatch) => asAccepted(dispatch)),
    ...{ budgets: noCosts.budgets, costStop: rules.costStop ?? noCosts.costStop },
    tellEnd: ({ head: { dispatchId } }) =>
      tellEnd(dispatchId, {
        progressOf: stores.progressOf,
        events,
        spend: noCosts.spend,
        nowMs: clock.nowMs,
        log: process.log,
      }),
    holds: {
      breakers: stores.breakers,
      ofSlice: holdsOfSlice(world, stores, running),
      askTemplate: templateAsker(world, stores, running),
    },
  };
}

function templateAsker(
  world: WorldParts,
  { wabas }: Stores,
  { run, clock }: Running,
): SenderPorts['holds']['askTemplate'] {
  const { nowMs, log } = shared(world, run, clock, 'dispatch');
  const ports = {
    templates: { storedFacts: async () => new Map() },
    keepReading: async () => undefined,
    platformTemplates: {
      find: () =>
        run.call('findTemplate', () => makeTemplate({ status: world.rules.templateStatus?.() ?? 'APPROVED' })),
    },
    ...{ nowMs, log },
  };
  return (asked, by, saw) => askTemplate(asked, by, { ...ports, wabas: seenHolds(wabas, saw) });
}

/** As the handler of small requests does it (sender/small-request-handler.ts). */
function smallRequests(world: SendingWorld): Consumer['handle'] {
  const queue = world.queues.small;
  return async (batch, run, clock) => {
    const running = { run, clock };
    const stores = world.stores.ofSmallRequests(run, clock.nowMs);
    const tries = tryPorts(world, stores, running);
    const deliveries = batch.map((delivery) => {
      return { ...delivery, attributes: { ApproximateReceiveCount: String(delivery.receiveCount) } };
    });
    const visibility = {
      postpone: (handle: string, seconds: number) =>
        run.call('postpone', () => queue.changeVisibility(handle, seconds)),
      hold: (handles: readonly string[], seconds: number) =>
        run.call('hold', () => {
          for (const handle of handles) queue.changeVisibility(handle, seconds);
        }),
    };
    const held = startHeartbeat(deliveries, { ...tries.process, queue: visibility }, firstHeartbeatOf(batch));
    const failed = await sendSmallRequests(batch, {
      ...tries,
      dispatches: stores.dispatches,
      lookAt: stores.lookAt,
      places: stores.places,
      paces: stores.paces,
      holds: { breakers: stores.breakers, ofSlice: holdsOfSlice(world, stores, running) },
      compose: composeMessage,
      countEnded: noCosts.countEnded,
      wake: wakesOf(world, run),
    });
    await held.end(failed);
    return failed;
  };
}

type Stores = ReturnType<WorldStores['ofSender']> | ReturnType<WorldStores['ofSmallRequests']>;

function holdsOfSlice(world: WorldParts, { states, wabas }: Stores, { run, clock }: Running) {
  const process = shared(world, run, clock, 'dispatch');
  const ofSlice: SliceHolds['ofSlice'] = (saw) => runHolds({ ...process, states, wabas: seenHolds(wabas, saw) });
  return ofSlice;
}

function tryPorts(world: WorldParts, stores: Stores, { run, clock }: Running): Omit<SliceTryPorts, 'dispatches'> {
  const { events, ...process } = shared(world, run, clock, 'dispatch');
  return {
    slices: noted(world, stores.slices),
    unknowns: stores.unknowns,
    events,
    people: { stoppedAmong: stores.stoppedAmong, inbound: inboundSink(world, run) },
    noteSent: async () => undefined,
    platform: {
      ready: async () => undefined,
      send: (posting) => {
        noteCall(world, posting);
        return run.call('send', () => post(world, posting));
      },
      probe: () =>
        run.call('probe', async () => {
          await world.platform.read(probeTimeoutMs);
          return { maySend: true };
        }),
    },
    process: { ...process, invocation: clock.invocation },
  };
}

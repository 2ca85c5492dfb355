import type { RoundMessage } from '../../../lib/messages/accept/round-message.ts';
import type { DispatchItemState } from '../../../lib/messages/dispatch/item.ts';
import type { StoredDispatch } from '../../../lib/messages/dispatch/whole-dispatch.ts';
import { type FanOutPorts, fanOutDispatch } from '../../../lib/messages/fan-out/fan-out-dispatch.ts';
import { asAccepted } from '../../../lib/messages/fan-out/revalidate-dispatch.ts';
import { unknownBreaker } from '../../../lib/messages/holds/breaker.ts';
import type { Holds } from '../../../lib/messages/holds/hold.ts';
import type { HoldsOfWabas } from '../../../lib/messages/holds/hold-store.ts';
import { runHolds } from '../../../lib/messages/holds/run-holds.ts';
import { unknownPace } from '../../../lib/messages/pace/number-pace.ts';
import type { NumberPaces } from '../../../lib/messages/pace/number-paces.ts';
import { dispatchTimeoutMs } from '../../../lib/messages/send/deadlines.ts';
import { processBatch } from '../../../lib/messages/send/process-batch.ts';
import { type WatchPorts, watchDispatches } from '../../../lib/messages/watch/watch.ts';
import { parkedWatchOf } from '../../../lib/messages/watch/watch-message.ts';
import { PlatformFailure } from '../../../lib/platform/failure.ts';
import type { ServiceEvent } from '../../../lib/webhooks/event.ts';
import { partNumbers } from '../../support/exploration.ts';
import { type FlatPorts, grouped } from '../../support/flat-ports.ts';
import { noStops } from '../../support/memory-opt-outs.ts';
import { noCosts } from '../../support/no-costs.ts';
import { type Call, type Outside, type Reply, standingAfter } from '../../support/replayed-run.ts';
import { scenarioHead, startMs } from '../../support/scenario-dispatch.ts';

/**
 * Runs the real fan-out, worker and watcher of a dispatch of one slice, call by call; the model answers every other
 * call at once.
 */

export type Role = 'fan-out' | 'worker' | 'watcher';

export interface Run {
  readonly role: Role;
  /** Runs are counted from 0 in the order of their start. */
  readonly number: number;
  /** The run works on this queue message. */
  readonly body: string;
  readonly replies: readonly Reply[];
  readonly total: number;
}

/** A run waits for replies to its open calls, or says whether it acknowledged its delivery. */
export interface Standing {
  readonly open: readonly Call[];
  readonly acknowledged?: boolean;
}

const { dispatchId, clientId, acceptedAtMs } = scenarioHead;
export const roundMessage: RoundMessage = { dispatchId, clientId, acceptedAtMs };

/** Two runs start so far apart that a wait for the template is due again. */
const betweenMs = 15_000;
export const nowMsOf = ({ number }: Pick<Run, 'number'>) => startMs + betweenMs * number;
/** This many runs start while one is alive. */
export const runsMeanwhile = Math.floor(dispatchTimeoutMs / betweenMs);

/** With these codes the platform refuses messages of a template that is not approved. */
export const refusals = { PAUSED: 132015, DISABLED: 132016 } as const;

const standings = new Map<number, Promise<Standing>>();
const numberOf = partNumbers();

export function standingOf(run: Run): Promise<Standing> {
  const number = numberOf(run);
  const known = standings.get(number) ?? replayed(run);
  standings.set(number, known);
  return known;
}

async function replayed(run: Run): Promise<Standing> {
  const { open, end } = await standingAfter(startOf(run), nowMsOf(run), run.replies);
  return { open, acknowledged: end };
}

/** Resolves to true when the delivery is acknowledged. */
function startOf({ role, number, body, total }: Run): (outside: Outside<string>) => Promise<boolean> {
  const delivery = { messageId: 'm', receiptHandle: 'r', body };
  if (role === 'worker') {
    return async (outside) => (await processBatch([delivery], grouped(workerPorts(outside, number)))).length === 0;
  }
  if (role === 'watcher')
    return async (outside) => (await watchDispatches([delivery], watcherPorts(outside))).length === 0;
  return (outside) =>
    fanOutDispatch(JSON.parse(body) as RoundMessage, `fan-out ${number}`, fanOutPorts(outside, total)).then(
      (end) => end === 'done',
      () => false,
    );
}

const nothing = async () => undefined;
const quiet = { log: () => undefined, random: () => 0, remainingMs: () => 60_000, pause: nothing };
/** The number is idle, so each run finds a slot at once. */
function idleNumber(): NumberPaces {
  let pace = unknownPace;
  const find = async () => pace;
  return {
    find,
    change: async (_number, _seen, change) => {
      const changed = change(pace, 0);
      pace = changed.pace;
      return changed;
    },
  };
}

/** Records each event by its type and its message, or the start of its pause. */
function tellingTo({ call }: Outside<string>) {
  const told = ({ type, data }: ServiceEvent) => {
    const { message_id, parked_at } = data as { readonly message_id?: string; readonly parked_at?: string };
    return `${message_id ?? parked_at} ${type}`;
  };
  return { send: async (events: readonly ServiceEvent[]) => await call('tell')(events.map(told)) };
}

function workerPorts(outside: Outside<string>, number: number): FlatPorts {
  const { call, nowMs } = outside;
  const paces = idleNumber();
  const look = call('look') as () => Promise<{ readonly state: DispatchItemState; readonly holds: Holds }>;
  return {
    ...{ ...quiet, nowMs, paces, isOfSmallRequests: false },
    slices: slicesOf(call),
    unknowns: { mark: nothing, proven: async () => new Set() },
    queue: { sendLater: call('sendLater'), postpone: nothing, hold: nothing },
    urgentCapacity: { take: async () => [] },
    look: async () => {
      const { state, holds } = await look();
      return { dispatches: new Map([[dispatchId, state]]), holds, pace: await paces.find(''), anyStops: false };
    },
    people: noStops,
    beginStraight: nothing,
    newHolds: () => runHolds(holdsPorts(outside)),
    events: tellingTo(outside),
    ready: nothing,
    send: sendOf(call),
    breakers: { find: async () => unknownBreaker, change: nothing },
    probe: async () => ({ maySend: true }),
    invocation: `run-${number}`,
  };
}

type CallTo = Outside<string>['call'];

function slicesOf(call: CallTo): FlatPorts['slices'] {
  return {
    claim: call('claim'),
    end: call('end'),
    endUncalled: call('endUncalled'),
    endForTheDead: call('endForTheDead'),
    endLate: call('endLate'),
  };
}

function holdsPorts(outside: Outside<string>): Parameters<typeof runHolds>[0] {
  const { call, nowMs } = outside;
  const ask = call('askHolds');
  return {
    ...{ ...quiet, nowMs },
    states: { park: call('park'), stop: call('stop'), goOn: call('goOn'), endPause: call('endPause') },
    wabas: { change: changeIn(outside), takeProbe: (_, message) => ask(message, nowMs()) },
    watchParked: (_, sinceMs) => call('watch')(parkedWatchOf(scenarioHead, sinceMs)),
  };
}

function sendOf(call: CallTo): FlatPorts['send'] {
  const send = call('send') as (messageId: unknown) => Promise<number | null>;
  return async ({ request }) => {
    const code = await send(request['biz_opaque_callback_data']);
    if (code !== null) throw new PlatformFailure('refused', { code });
    return { platformMessageId: 'platform-0' };
  };
}

/** A rule is no plain data, so a reply holds the rule's effect on the holds. */
function changeIn({ call }: Outside<string>): HoldsOfWabas['change'] {
  const change = call('changeHolds');
  return (_, rule) => change(rule);
}

function watcherPorts(outside: Outside<string>): WatchPorts {
  const { call, nowMs } = outside;
  const of = call('of') as () => Promise<DispatchItemState>;
  const unused = () => Promise.reject(new Error('not asked here'));
  return {
    ...quiet,
    nowMs,
    events: tellingTo(outside),
    progressOf: unused,
    queue: { sendLater: unused },
    spend: noCosts.spend,
    parked: {
      states: {
        of: async () => new Map([[dispatchId, await of()]]),
        ...{ stop: call('stop'), resume: call('resume'), endPause: call('endPause') },
      },
      holds: { find: call('holds'), change: changeIn(outside) },
      isDown: async () => false,
      queue: { sendLater: call('watch') },
      dispatchOf: async () => ({ head: scenarioHead }),
      templates: { storedFacts: async () => new Map() },
      keepReading: async () => undefined,
      platformTemplates: { find: call('template') },
    },
  };
}

/** fan-out/rounds-explorer.test.ts explores the rounds; here only the ended slices matter. */
function fanOutPorts(outside: Outside<string>, total: number): FanOutPorts {
  const { call, nowMs } = outside;
  const head = { ...scenarioHead, total };
  const dispatch: StoredDispatch = { head, plan: {} as StoredDispatch['plan'], repeats: [], waitsMs: new Map() };
  const recipients = Array.from({ length: total }, (_, index) => ({ to: String(index) }));
  return {
    ...quiet,
    nowMs,
    paces: idleNumber(),
    dispatches: {
      find: async () => dispatch,
      recipientsFrom: async (_, firstIndex) => recipients.slice(firstIndex),
      ...{ list: call('list'), take: call('take'), announce: call('announce'), handOver: call('handOver') },
    },
    judge: async (stored) => asAccepted(stored),
    costStop: noCosts.costStop,
    countNow: noCosts.countNow,
    states: { stop: call('stop') },
    slices: { endUncalled: call('endUncalled') },
    events: tellingTo(outside),
    queue: { pack: (entries) => [[...entries]], sendBatch: call('sendBatch') },
    watch: { sendLater: nothing },
    sendAgain: call('sendAgain'),
    hold: nothing,
    againAfterSeconds: 30,
    compose: (_, { to }, messageId) => ({ to, biz_opaque_callback_data: messageId }),
    limitOf: async () => 80,
  };
}

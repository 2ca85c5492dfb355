import type { QueueEntry } from '../../../../lib/aws/sqs-batch.ts';
import type { RoundMessage } from '../../../../lib/messages/accept/round-message.ts';
import type { QueuedChunk } from '../../../../lib/messages/dispatch/chunk.ts';
import type { DispatchItem } from '../../../../lib/messages/dispatch/item.ts';
import type { Lot } from '../../../../lib/messages/dispatch/lots.ts';
import { claimed, ended } from '../../../../lib/messages/dispatch/slice.ts';
import type { StoredDispatch } from '../../../../lib/messages/dispatch/whole-dispatch.ts';
import type { Progress } from '../../../../lib/messages/fan-out/dispatch-rounds.ts';
import { type FanOutPorts, fanOutDispatch } from '../../../../lib/messages/fan-out/fan-out-dispatch.ts';
import { asAccepted } from '../../../../lib/messages/fan-out/revalidate-dispatch.ts';
import { unknownPace } from '../../../../lib/messages/pace/number-pace.ts';
import { begunItem, writtenByName } from '../../../support/messages-table/dispatch-item.ts';
import { noCosts } from '../../../support/no-costs.ts';
import { type Outside, type Reply, type Standing, standingAfter } from '../../../support/replayed-run.ts';
import { scenarioHead, startMs } from '../../../support/scenario-dispatch.ts';

/** One dispatch, its item, its queue and the dispatch queue are plain data, and the real fan-out runs call by call. */

export interface Scenario {
  /** The dispatch has this many recipients; a slow number has chunks of ten. */
  readonly total: number;
  /** This many messages a second decide the lengths of waves and rounds. */
  readonly limitPerSecond: number;
  /** The client may cancel the dispatch at any moment. */
  readonly mayStop?: true;
  /** The dispatch may be parked at any moment, and may resume later. */
  readonly mayPark?: true;
  /** A scheduled send's messages leave in the openings of their lots (D56). */
  readonly lots?: readonly Lot[];
  /** The queue may lose a message, and the look at the backlog may wake the dispatch needlessly. */
  readonly losesMessages?: true;
  /** These calls may land after their run has given them up, or once more after their reply. */
  readonly late?: readonly Write[];
}

type Write = 'list' | 'take' | 'reserve' | 'announce' | 'sendBatch' | 'end' | 'sendAgain' | 'watch' | 'handOver';
/** Time may pass in a pause. */
export type OpName = Write | 'pause';

export interface Op {
  readonly name: OpName;
  readonly args: readonly unknown[];
}

export interface Run {
  readonly owner: string;
  /** The run works on this delivery. */
  readonly message: number;
  readonly body: RoundMessage;
  readonly startedAtMs: number;
  readonly replies: readonly Reply[];
}

export type RunStanding = Standing<'done' | 'again' | 'failed', OpName>;

export interface World {
  readonly dispatch: DispatchItem;
  readonly nextPosition: number;
  readonly announced: readonly (NonNullable<DispatchItem['wave']> & { readonly from: number })[];
  /** Each chunk was queued this often, by its first recipient. */
  readonly queued: Readonly<Record<number, number>>;
  /** From this recipient on, all have ended without being queued and have an event. */
  readonly endedFrom: number | null;
  /** These slices of a dispatch with lots have ended, by first recipient. */
  readonly ended: Readonly<Record<number, true>>;
  /** The first queued copy had this slot position. */
  readonly positions: Readonly<Record<number, number>>;
  /** A chunk was queued in slots that were not announced, or in other slots than before. */
  readonly wrong: string | null;
  readonly watched: boolean;
  readonly listed: boolean;
  /** The queue has lost a message: the look at the backlog finds it. */
  readonly lost: boolean;
  readonly messages: readonly { readonly id: number; readonly body: RoundMessage; readonly visible: boolean }[];
  readonly nextId: number;
}

const chunkRecipients = 10;

export function firstWorld(): World {
  const { dispatchId, clientId, acceptedAtMs } = scenarioHead;
  const body = { dispatchId, clientId, acceptedAtMs };
  return {
    dispatch: begunItem,
    nextPosition: 0,
    announced: [],
    queued: {},
    endedFrom: null,
    ended: {},
    positions: {},
    wrong: null,
    watched: false,
    listed: false,
    lost: false,
    messages: [{ id: 0, body, visible: true }],
    nextId: 1,
  };
}

/** Returns whether every recipient is queued or has ended. */
export function isAllReleased({ queued, endedFrom, ended: some }: World, { total }: Scenario): boolean {
  const firsts = Array.from({ length: Math.ceil(total / chunkRecipients) }, (_, at) => at * chunkRecipients);
  const hasEnded = (first: number) => some[first] ?? (endedFrom !== null && endedFrom <= first);
  return firsts.every((first) => queued[first] !== undefined || hasEnded(first));
}

/** The state of a run depends only on its replies. */
export function standingOf(run: Run, scenario: Scenario): Promise<RunStanding> {
  const start = (outside: Outside<OpName>) =>
    fanOutDispatch(run.body, run.owner, portsOf(outside, scenario)).catch(() => 'failed' as const);
  return standingAfter(start, run.startedAtMs, run.replies);
}

type CallTo = Outside<OpName>['call'];

function portsOf({ call, nowMs }: Outside<OpName>, scenario: Scenario): FanOutPorts {
  const nothing = async () => undefined;
  return {
    dispatches: dispatchesOf(call, scenario),
    states: { stop: () => Promise.reject(new Error('no dispatch of this world is parked')) },
    slices: slicesOf(call, scenario),
    events: { send: nothing },
    // Each chunk is a request of its own.
    queue: { pack: (entries) => entries.map((entry) => [entry]), sendBatch: call('sendBatch') },
    watch: { sendLater: call('watch') },
    sendAgain: call('sendAgain'),
    hold: nothing,
    againAfterSeconds: 30,
    judge: async (stored) => asAccepted(stored),
    costStop: noCosts.costStop,
    countNow: noCosts.countNow,
    compose: (_, { to }) => ({ to }),
    paces: pacesOf(call),
    limitOf: async () => scenario.limitPerSecond,
    nowMs,
    remainingMs: () => 60_000,
    random: () => 0,
    pause: call('pause'),
    log: () => undefined,
  };
}

function dispatchesOf(call: CallTo, { total, lots }: Scenario): FanOutPorts['dispatches'] {
  const when = lots === undefined ? {} : { when: { asked: {}, fromMs: startMs } };
  const head = { ...scenarioHead, total, ...when };
  const plan = {} as StoredDispatch['plan'];
  const dispatch: StoredDispatch = { head, plan, repeats: [], waitsMs: new Map(), lots };
  const recipients = Array.from({ length: total }, (_, index) => ({ to: String(index) }));
  return {
    find: async () => dispatch,
    recipientsFrom: async (_, firstIndex) => recipients.slice(firstIndex),
    list: call('list'),
    take: call('take'),
    announce: call('announce'),
    handOver: call('handOver'),
  };
}

/** The ending of the first slice stands for all slices that a run ends; other explorations cover their writers. */
function slicesOf(call: CallTo, { lots }: Scenario): FanOutPorts['slices'] {
  const callEnd = call('end');
  let ending: Promise<unknown> | undefined;
  return {
    endUncalled: async (claim, outcomes) => {
      const first = claim.key.slice * 10;
      if (lots === undefined) ending ??= callEnd(first);
      await (lots === undefined ? ending : callEnd(first, 'alone'));
      return ended(claimed(undefined, claim), outcomes);
    },
  };
}

function pacesOf(call: CallTo): FanOutPorts['paces'] {
  return {
    find: async () => unknownPace,
    change: async (_, seen = unknownPace, change) => {
      const nextPosition: number = await call('reserve')();
      return change({ ...unknownPace, schedule: { ...seen.schedule, nextPosition } }, 0);
    },
  };
}

export function effectOf(world: World, { name, args }: Op, nowMs: number): { world: World; value: unknown } {
  switch (name) {
    case 'list':
      return { world: { ...world, listed: true }, value: undefined };
    case 'take':
    case 'announce':
    case 'handOver': {
      // The store writes the run's time, which may be old when the write lands; here the call and its effect are one
      // step.
      const given = name === 'take' || name === 'announce' ? [...args.slice(0, -1), nowMs] : args;
      const { item: dispatch = {}, value } = writtenByName(name, world.dispatch, given);
      const isNews = name === 'announce' && value !== undefined;
      const announced = isNews ? withWave(world.announced, args[1] as Progress) : world.announced;
      return { world: { ...world, dispatch, announced }, value };
    }
    case 'reserve':
      return { world: { ...world, nextPosition: world.nextPosition + 300 }, value: world.nextPosition };
    case 'sendBatch':
      return { world: withChunk(world, args[0] as readonly QueueEntry[]), value: [] };
    case 'end': {
      const first = Number(args[0]);
      if (args[1] === 'alone')
        return { world: { ...world, ended: { ...world.ended, [first]: true } }, value: undefined };
      const endedFrom = Math.min(world.endedFrom ?? Number.POSITIVE_INFINITY, first);
      return { world: { ...world, endedFrom }, value: undefined };
    }
    case 'sendAgain': {
      const message = { id: world.nextId, body: args[0] as RoundMessage, visible: true };
      const messages = [...world.messages, message];
      return { world: { ...world, messages, nextId: world.nextId + 1 }, value: undefined };
    }
    case 'pause':
      return { world, value: undefined };
    case 'watch':
      return { world: { ...world, watched: true }, value: undefined };
  }
}

function withWave(announced: World['announced'], { queued: from, wave }: Progress): World['announced'] {
  if (wave === undefined || announced.some(({ position }) => position === wave.position)) return announced;
  return [...announced, { from, ...wave }];
}

function withChunk(world: World, entries: readonly QueueEntry[]): World {
  const [chunk] = entries.map(({ body }) => JSON.parse(body) as QueuedChunk);
  const [slice] = chunk?.slices ?? [];
  const first = slice?.recipients[0]?.index ?? -1;
  const at = slice?.position ?? -1;
  const isAnnounced = world.announced.some(
    ({ from, until, position }) => from <= first && first < until && at === position + first - from,
  );
  const isElsewhere = (world.positions[first] ?? at) !== at;
  const wrong = isElsewhere ? 'in other slots than before' : isAnnounced ? null : 'in slots that were not announced';
  return {
    ...world,
    queued: { ...world.queued, [first]: (world.queued[first] ?? 0) + 1 },
    positions: { ...world.positions, [first]: at },
    wrong: world.wrong ?? wrong,
  };
}

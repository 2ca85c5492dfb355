import type { BacklogEntry } from '../../../../lib/messages/dispatch/backlog.ts';
import type { DispatchHead } from '../../../../lib/messages/dispatch/head.ts';
import { type DispatchItem, stateOf } from '../../../../lib/messages/dispatch/item.ts';
import type { Slice } from '../../../../lib/messages/dispatch/slice.ts';
import { unknownBreaker } from '../../../../lib/messages/holds/breaker.ts';
import { noHolds } from '../../../../lib/messages/holds/hold.ts';
import { runHolds } from '../../../../lib/messages/holds/run-holds.ts';
import { DispatchesInHand } from '../../../../lib/messages/sender/dispatches-in-hand.ts';
import type { SenderPart } from '../../../../lib/messages/sender/entry-progress.ts';
import { NumberView } from '../../../../lib/messages/sender/number-view.ts';
import { asAccepted } from '../../../../lib/messages/sender/revalidate-dispatch.ts';
import type { SenderBacklog, SenderPorts } from '../../../../lib/messages/sender/sender-ports.ts';
import { SliceStarter } from '../../../../lib/messages/sender/slice-starter.ts';
import { Turns } from '../../../../lib/messages/sender/turns.ts';
import { PlatformFailure } from '../../../../lib/platform/failure.ts';
import type { ServiceEvent } from '../../../../lib/webhooks/event.ts';
import { partNumbers } from '../../../support/exploration.ts';
import { noStops } from '../../../support/memory-opt-outs.ts';
import { noCosts } from '../../../support/no-costs.ts';
import { type Outside, type Reply, type Standing, standingAfter } from '../../../support/replayed-run.ts';
import { scenarioHead } from '../../../support/scenario-dispatch.ts';

/** Runs the real dispatches and slices of a sender call by call, without its lease, looks and pace. */

/** `again` and `refused` were provably not taken, and `again` may be tried later; `silence` may be taken or not. */
export type Answer = 'taken' | 'again' | 'silence' | 'refused';

export interface Run {
  /** Runs are counted from 0 in the order of their start. */
  readonly number: number;
  readonly part: SenderPart;
  readonly total: number;
  readonly startedAtMs: number;
  readonly replies: readonly Reply[];
}

export interface Found {
  readonly item: DispatchItem;
  readonly head: DispatchHead;
}

const standings = new Map<number, Promise<Standing<'done'>>>();
const numberOf = partNumbers();

export function standingOf(run: Run): Promise<Standing<'done'>> {
  const number = numberOf(run);
  const known =
    standings.get(number) ?? standingAfter((outside) => workOff(run, outside), run.startedAtMs, run.replies);
  standings.set(number, known);
  return known;
}

export function headOf(total: number): DispatchHead {
  return { ...scenarioHead, total };
}

async function workOff(run: Run, outside: Outside<string>): Promise<'done'> {
  const ports = portsOf(run, outside);
  const { nowMs, pause } = ports.process;
  let changed = Promise.withResolvers<void>();
  const signal = () => {
    changed.resolve();
    changed = Promise.withResolvers();
  };
  const number = new NumberView(ports.paces);
  number.breaker = unknownBreaker;
  const turns = new Turns({ nowMs, pause, everyMs: () => 0, lastMs: Number.POSITIVE_INFINITY });
  const shared = {
    invocation: String(run.number),
    turns,
    number,
    lastCallMs: Number.POSITIVE_INFINITY,
    mayClaim: () => true,
    ports,
  };
  const slices = new SliceStarter(shared, () => 0, signal);
  const wait = outside.call('wait') as () => Promise<boolean>;
  const hands = new DispatchesInHand(run.part, number, signal, ports);
  hands.saw(await ports.backlog.of('').catch(() => []));
  for (;;) {
    const next = hands.nextOf(hands.ready());
    if (next !== undefined) {
      slices.start({ ...next, isFront: false }, (outcome) => {
        hands.afterSlice(next, outcome);
        signal();
      });
    } else if (!slices.isBusy && hands.nextDueMs() > nowMs()) {
      if (hands.nextDueMs() > nowMs() + 20_000 || !(await wait())) break;
    } else await changed.promise;
  }
  await slices.allEnded();
  await hands.leave();
  return 'done';
}

const nothing = async () => undefined;
const never = () => Promise.reject(new Error('not in this world'));

function portsOf(run: Run, { call, nowMs }: Outside<string>): SenderPorts {
  const head = headOf(run.total);
  const plan = { templateName: 't', languageCode: 'en', buttons: [], cards: [] };
  const dispatch = { head, plan, repeats: [], waitsMs: new Map<number, number>() };
  const log = () => undefined;
  const pause = nothing as () => Promise<void>;
  const process = { invocation: '', nowMs, remainingMs: () => 0, random: () => 0, pause, log };
  const look = call('look') as () => Promise<DispatchItem>;
  const tell = call('tell') as (told: string[]) => Promise<void>;
  const send = call('send') as (index: number) => Promise<Answer>;
  return {
    statesOf: never as never,
    backlog: backlogOf(call),
    slices: {
      claim: call('claim'),
      end: call('end'),
      settle: call('settle'),
      find: call('findSlice'),
      endUncalled: call('endUncalled'),
      endForTheDead: call('endForTheDead'),
    },
    unknowns: { mark: nothing, proven: async () => new Set() },
    states: { stop: never, park: never, parkTold: never, resume: never, unpark: never },
    events: { send: async (events) => await tell(events.map(tellingOf)) },
    paces: { find: never, change: never },
    places: { close: never },
    people: noStops,
    noteSent: nothing,
    compose: (_plan, _recipient, messageId) => ({ to: messageId }),
    limitOf: async () => 80,
    wake: nothing,
    judge: async () => asAccepted(dispatch),
    ...{ budgets: noCosts.budgets, costStop: noCosts.costStop },
    tellEnd: async () => (await (call('tellEnd') as () => Promise<boolean>)()) ?? true,
    dispatches: {
      look: async () => {
        const item = await look();
        const dispatches = new Map([[head.dispatchId, stateOf(item)]]);
        return { dispatches, holds: noHolds, pace: undefined as never, anyStops: false };
      },
      find: async () => {
        const item = await (call('find') as () => Promise<DispatchItem>)();
        return { standing: 'begun', state: stateOf(item), dispatch };
      },
      slicesFrom: call('slicesFrom') as (id: string, slice: number) => Promise<Slice[]>,
      recipientsFrom: async (_id, first) => [0, 1, 2].map((at) => ({ to: `${first + at}` })),
      withdraw: never,
      list: nothing,
      reckon: call('reckon'),
    },
    holds: {
      breakers: { find: async () => unknownBreaker, change: nothing },
      askTemplate: never,
      ofSlice: () =>
        runHolds({
          states: { stop: never },
          wabas: { change: never, takeProbe: never },
          nowMs,
          log,
        }),
    },
    platform: {
      ready: nothing,
      send: async ({ request: { to = '' } }) => {
        const answer = await send(Number(to.slice(to.lastIndexOf('-') + 1)));
        if (answer === 'again') throw new PlatformFailure('refused', { httpStatus: 400, code: 80007 });
        if (answer === 'refused') throw new PlatformFailure('refused', { httpStatus: 400, code: 131047 });
        if (answer === 'silence') throw new PlatformFailure('ambiguous', {});
        return { platformMessageId: 'p' };
      },
      probe: never,
    },
    process,
  };
}

function tellingOf({ type, data }: ServiceEvent): string {
  return `${(data as { readonly message_id?: string }).message_id ?? ''} ${type}`;
}

function backlogOf(call: Outside<string>['call']): SenderBacklog {
  const put = call('putEntry') as (version: number, next: BacklogEntry) => Promise<BacklogEntry | undefined>;
  return {
    of: call('backlogOf'),
    change: async (entry, rule) => {
      for (let seen: BacklogEntry | undefined = entry; seen !== undefined; ) {
        const before = seen.version ?? 0;
        const next: BacklogEntry = { ...rule(seen), version: before + 1 };
        const found: BacklogEntry | undefined = await put(before, next);
        if (JSON.stringify(found) === JSON.stringify(next)) return next;
        seen = found;
      }
      return undefined;
    },
    remove: call('remove') as () => Promise<void>,
  };
}

import type { BacklogEntry } from '../../../../lib/messages/dispatch/backlog.ts';
import { type DispatchItem, stateOf } from '../../../../lib/messages/dispatch/item.ts';
import { unknownBreaker } from '../../../../lib/messages/holds/breaker.ts';
import { type Holds, holdsOn } from '../../../../lib/messages/holds/hold.ts';
import { probeOf, probeTaken } from '../../../../lib/messages/holds/questions.ts';
import { type RunHolds, runHolds } from '../../../../lib/messages/holds/run-holds.ts';
import type { HoldableMessage } from '../../../../lib/messages/holds/scope.ts';
import { askTemplate } from '../../../../lib/messages/holds/template-question.ts';
import { DispatchesInHand } from '../../../../lib/messages/sender/dispatches-in-hand.ts';
import { NumberView } from '../../../../lib/messages/sender/number-view.ts';
import { asAccepted } from '../../../../lib/messages/sender/revalidate-dispatch.ts';
import { seenHolds } from '../../../../lib/messages/sender/seen-holds.ts';
import type { SenderPorts } from '../../../../lib/messages/sender/sender-ports.ts';
import type { NextSlice } from '../../../../lib/messages/sender/slice-starter.ts';
import { partNumbers } from '../../../support/exploration.ts';
import { noStops } from '../../../support/memory-opt-outs.ts';
import { noCosts } from '../../../support/no-costs.ts';
import { type Outside, type Reply, type Standing, standingAfter } from '../../../support/replayed-run.ts';
import { makeTemplate } from '../../../support/templates.ts';
import { headOf } from './sender-model.ts';

/** Runs the real sender of a held dispatch of one recipient call by call: its slice alone is one call. */

export const head = headOf(1);

export interface HeldRun {
  readonly number: number;
  readonly startedAtMs: number;
  readonly replies: readonly Reply[];
}

/** The platform's answer to the message: taken, or refused with this code. */
export type SendAnswer = 'taken' | number;

const standings = new Map<number, Promise<Standing<'done'>>>();
/** Runs with the same number have the same future. */
export const numberOf = partNumbers();

export function standingOfHeld(run: HeldRun): Promise<Standing<'done'>> {
  const number = numberOf(run);
  const known = standings.get(number) ?? standingAfter((outside) => workOff(outside), run.startedAtMs, run.replies);
  standings.set(number, known);
  return known;
}

async function workOff({ call, nowMs }: Outside<string>): Promise<'done'> {
  const ports = portsOf({ call, nowMs });
  const number = new NumberView(ports.paces);
  number.breaker = unknownBreaker;
  let changed = Promise.withResolvers<void>();
  const signal = () => {
    changed.resolve();
    changed = Promise.withResolvers();
  };
  const hands = new DispatchesInHand({ part: 0, of: 1 }, number, signal, ports);
  const send = call('send') as () => Promise<SendAnswer>;
  const look = async () => {
    if (number.wabaIds.length === 0) return;
    const { holds } = await ports.dispatches.look({ wabaId: head.wabaId, dispatchIds: [] });
    number.saw(head.wabaId, holds);
  };
  try {
    const entries = await ports.backlog.of('');
    if (entries.some(({ parked }) => parked !== undefined)) {
      number.saw(head.wabaId, (await ports.dispatches.look(unheld)).holds);
    }
    hands.saw(entries);
  } catch {
    return 'done';
  }
  let isSent = false;
  // A dispatch takes few steps; a run that needs more stands still.
  for (let step = 0; step < 40; step += 1) {
    hands.tellPauses();
    const next = isSent ? undefined : hands.nextOf(hands.ready());
    if (next !== undefined) {
      isSent = true;
      const isHeld = holdsOn(number.holdsOf(head.wabaId), head).length > 0;
      await sendOne({ ...next, isFront: false }, hands, { send, nowMs, holds: ofRun(number, ports), isHeld });
    } else if (hands.nextDueMs() <= nowMs()) await changed.promise;
    else break;
    await look().catch(() => undefined);
  }
  await hands.leave();
  return 'done';
}

const unheld = { wabaId: head.wabaId, dispatchIds: [] };

function ofRun(number: NumberView, ports: SenderPorts): RunHolds {
  const holds = ports.holds.ofSlice((wabaId, seen) => number.saw(wabaId, seen));
  holds.saw(head.wabaId, number.holdsOf(head.wabaId));
  return holds;
}

interface Sending {
  readonly send: () => Promise<SendAnswer>;
  readonly nowMs: () => number;
  readonly holds: RunHolds;
  /** The message asks whether its holds are over. */
  readonly isHeld: boolean;
}

/** A free dispatch has its message called; what else a slice does, the explorer of senders sees. */
async function sendOne(
  next: NextSlice,
  hands: DispatchesInHand,
  { send, nowMs, holds, isHeld }: Sending,
): Promise<void> {
  const { hand } = next;
  const probe = isHeld ? await holds.takeProbes(hand.facts) : undefined;
  const calledMs = nowMs();
  const answer = isHeld && probe === undefined ? undefined : await send();
  if (probe !== undefined) await holds.answered(hand.facts, probe, answer === 'taken' ? 'taken' : 'refused');
  if (answer === 'taken') await holds.taken(hand.facts, calledMs);
  else if (answer !== undefined) await holds.byRefusal(hand.facts, { code: answer });
  const outcome =
    answer === 'taken' ? ({ state: 'sent' } as const) : ({ state: 'again', dueMs: nowMs() + 15_000 } as const);
  const slice = {
    key: { dispatchId: head.dispatchId, slice: 0 },
    ...{ try: next.open.try, version: 1, owner: '', atMs: nowMs(), state: 'ended' as const },
    outcomes: [outcome],
  };
  hands.afterSlice(next, { kind: 'run', end: { kind: 'ended', slice: slice as never }, isTold: true });
}

const nothing = async () => undefined;
const never = () => Promise.reject(new Error('not in this world'));

function portsOf({ call, nowMs }: Outside<string>): SenderPorts {
  const plan = { templateName: 't', languageCode: 'en', buttons: [], cards: [] };
  const dispatch = { head, plan, repeats: [], waitsMs: new Map<number, number>() };
  const log = () => undefined;
  const find = call('find') as () => Promise<DispatchItem>;
  const look = call('look') as () => Promise<{ readonly item: DispatchItem; readonly holds: Holds }>;
  const wabas = {
    takeProbe: async (_: string, message: HoldableMessage) => {
      let isOwn = false;
      const after = await wabas.change('', (seen) => {
        const next = probeTaken(message, nowMs())(seen);
        isOwn = next !== seen;
        return next;
      });
      return isOwn ? probeOf(after, message) : undefined;
    },
    change: async (_: string, rule: (holds: Holds) => Holds): Promise<Holds> => {
      for (let seen = await (call('findHolds') as () => Promise<Holds>)(); ; ) {
        const next = rule(seen);
        if (next === seen) return seen;
        const put = call('putHolds') as (before: Holds, after: Holds) => Promise<Holds | undefined>;
        const other = await put(seen, next);
        if (other === undefined) return next;
        seen = other;
      }
    },
  };
  const states = {
    ...{ stop: call('stop'), park: call('park'), parkTold: call('parkTold') },
    ...{ resume: call('resume'), unpark: call('unpark') },
  };
  const tell = call('tell') as (told: string[]) => Promise<void>;
  return {
    ...{ statesOf: never as never, slices: {} as never, unknowns: {} as never, people: noStops, noteSent: nothing },
    ...{ platform: {} as never, paces: { find: never, change: never }, places: { close: never } },
    ...{
      compose: (() => ({})) as never,
      limitOf: async () => 80,
      wake: nothing,
      costStop: noCosts.costStop,
      budgets: noCosts.budgets,
    },
    backlog: {
      of: call('backlogOf') as () => Promise<BacklogEntry[]>,
      change: call('changeEntry'),
      remove: call('remove') as () => Promise<void>,
    },
    states,
    events: {
      send: async (events) => await tell(events.map(({ type, data }) => `${type} ${sinceOf(data)}`)),
    },
    judge: async () => asAccepted(dispatch),
    tellEnd: async () => (await (call('tellEnd') as () => Promise<boolean>)()) ?? true,
    dispatches: {
      look: async () => {
        const { item, holds } = await look();
        return { holds, dispatches: new Map([[head.dispatchId, stateOf(item)]]), anyStops: false };
      },
      find: async () => ({ standing: 'begun', state: stateOf(await find()), dispatch }),
      slicesFrom: async () => [],
      recipientsFrom: async () => [{ to: '1' }],
      withdraw: never,
      list: nothing,
      reckon: async (_, underWay) => underWay,
    },
    holds: {
      breakers: { find: async () => unknownBreaker, change: nothing },
      ofSlice: (saw) => runHolds({ states, wabas: seenHolds(wabas, saw), nowMs, log }),
      askTemplate: (asked, by, saw) =>
        askTemplate(asked, by, {
          ...{ wabas: seenHolds(wabas, saw), keepReading: nothing, nowMs, log },
          templates: { storedFacts: async () => new Map() },
          platformTemplates: {
            find: async () => {
              const status = await (call('findTemplate') as () => Promise<string>)();
              return status === 'missing' ? undefined : makeTemplate({ status });
            },
          },
        }),
    },
    process: { invocation: '', nowMs, remainingMs: () => 0, random: () => 0, pause: nothing as never, log },
  };
}

function sinceOf(data: unknown): number | string {
  const { parked_at: at } = data as { readonly parked_at?: string };
  return at === undefined ? '' : Date.parse(at);
}

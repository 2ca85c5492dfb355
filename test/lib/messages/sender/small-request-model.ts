import type { DispatchItem } from '../../../../lib/messages/dispatch/item.ts';
import type { Outcome, Slice, SliceClaim } from '../../../../lib/messages/dispatch/slice.ts';
import { runSlice } from '../../../../lib/messages/send/claims/run-slice.ts';
import { type SmallRequestEnd, sendSmallRequest } from '../../../../lib/messages/sender/small-request.ts';
import { partNumbers } from '../../../support/exploration.ts';
import { type Outside, type Reply, type Standing, standingAfter } from '../../../support/replayed-run.ts';
import { scenarioHead } from '../../../support/scenario-dispatch.ts';
import type { Answer } from './sender-model.ts';

/** Runs the real worker of a small request of one recipient, call by call. */

export interface SmallRun {
  readonly number: number;
  readonly startedAtMs: number;
  readonly hasPlace: boolean;
  readonly replies: readonly Reply[];
}

const standings = new Map<number, Promise<Standing<SmallRequestEnd>>>();
const numberOf = partNumbers();

export function standingOfSmall(run: SmallRun): Promise<Standing<SmallRequestEnd>> {
  const number = numberOf(run);
  const known =
    standings.get(number) ?? standingAfter((outside) => working(run, outside), run.startedAtMs, run.replies);
  standings.set(number, known);
  return known;
}

const { dispatchId } = scenarioHead;

/** A sender's claims live so long (sender/slice-run.ts). */
const claimLifeMs = 150_000;

const outcomes: Readonly<Record<Answer, (nowMs: number) => Outcome>> = {
  taken: () => ({ state: 'sent', platformMessageId: 'p' }),
  again: (dueMs) => ({ state: 'again', dueMs }),
  silence: () => ({ state: 'unknown', code: 'no_answer' }),
  refused: () => ({ state: 'failed', code: '131047' }),
};

async function working(run: SmallRun, { call, nowMs }: Outside<string>): Promise<SmallRequestEnd> {
  const key = { dispatchId, slice: 0 };
  const claim: SliceClaim = { key, try: 0, owner: `small-${run.number}`, atMs: nowMs(), size: 1 };
  const recipient = { index: 0, to: '0' };
  const look = call('look') as () => Promise<DispatchItem>;
  const held = call('isHeld') as () => Promise<boolean>;
  const send = call('send') as (index: number) => Promise<Answer>;
  const tell = async ({ outcomes: ended }: Slice) => {
    const told = ended.flatMap((each) =>
      each === undefined || each.state === 'again' ? [] : [`${dispatchId}-0 message.${each.state}`],
    );
    if (told.length > 0) await (call('tell') as (told: string[]) => Promise<void>)(told);
  };
  const isTold = (ended: Slice): Promise<boolean> =>
    tell(ended).then(
      () => true,
      () => false,
    );
  return await sendSmallRequest(run.hasPlace ? [0] : undefined, {
    tryOnce: async () => {
      const end = await runSlice(
        { claim, recipients: new Map([[0, recipient]]) },
        {
          slices: {
            claim: call('claim'),
            end: call('end'),
            settle: call('settle'),
            find: call('findSlice'),
            endUncalled: call('endUncalled'),
            endForTheDead: call('endForTheDead'),
          },
          look: async () => {
            const { head } = await look();
            if (head === undefined) await (call('begin') as () => Promise<unknown>)();
            const again: Outcome = { state: 'again', dueMs: nowMs() };
            return {
              heldBack: async () => ((await held()) ? again : undefined),
              proven: new Set(),
              barred: new Map(),
              ofDead: { state: 'unknown', code: 'worker_lost' },
            };
          },
          markUnknown: async () => undefined,
          proven: async () => new Set(),
          tell,
          call: async () => outcomes[await send(0)](nowMs()),
          nowMs,
          mayRepeat: async (times) => times < 2,
          claimLifeMs,
          retryMs: nowMs,
        },
      );
      return { end, isTold: end.kind === 'ended' && (await isTold(end.slice)) };
    },
    countEnded: async () => undefined,
    store: call('store'),
    begin: call('begin'),
    enter: call('enterInFront'),
    wake: async () => undefined,
  });
}

import { describe, expect, test } from 'vitest';
import {
  claimed,
  ended,
  endedForTheDead,
  lost,
  type Outcome,
  type Outcomes,
  provenByReceipt,
  type Slice,
  settled,
  takenOf,
  withdrawn,
} from '../../../../../lib/messages/dispatch/slice.ts';
import type { Slices } from '../../../../../lib/messages/dispatch/slice-store.ts';
import { runSlice, type SlicePorts } from '../../../../../lib/messages/send/claims/run-slice.ts';

const key = { dispatchId: '01JD0000000000000000000000', slice: 3 };
const nowMs = 1_800_000_000_000;
const claim = { key, try: 0, owner: 'run-1', atMs: nowMs, size: 2 };
const ana = { index: 30, to: 'Ana' };
const ben = { index: 31, to: 'Ben' };
const recipients = new Map([[0, ana], [1, ben]]); // biome-ignore format: one row
const sent: Outcome = { state: 'sent', platformMessageId: 'wamid.1' };
const unknown: Outcome = { state: 'unknown', code: 'no_answer' };
const again = (dueMs: number): Outcome => ({ state: 'again', dueMs });
const retryAgain = again(nowMs + 5_000);
const own = claimed(undefined, claim);
const others = { ...own, owner: 'run-2' };
const both = (first: Outcome, second: Outcome): Outcomes => new Map([[0, first], [1, second]]); // biome-ignore format: one row

interface Changes extends Partial<Omit<SlicePorts, 'slices'>> {
  readonly slices?: Partial<Slices>;
}

const goesWell: Slices = {
  claim: async () => ({ kind: 'claimed', slice: own }),
  end: async (slice, outcomes) => ended(slice, outcomes),
  endUncalled: async (asked, outcomes) => ended(claimed(undefined, asked), outcomes),
  endForTheDead: async (...how) => endedForTheDead(...how),
  settle: async (...how) => settled(...how),
  find: async () => endedForTheDead(own, 'run-2'),
};

function portsWith({ slices = {}, ...others }: Changes): SlicePorts {
  return {
    look: async () => ({ heldBack: async () => undefined, proven: new Set(), barred: new Map(), ofDead: lost }),
    markUnknown: async () => undefined,
    proven: async () => new Set(),
    tell: async () => undefined,
    call: async () => sent,
    nowMs: () => nowMs,
    mayRepeat: async () => false,
    claimLifeMs: 90_000,
    retryMs: () => nowMs + 5_000,
    ...others,
    slices: { ...goesWell, ...slices },
  };
}

/** The run's ports record every call in order; without changes all goes well. */
function world(changes: Changes = {}) {
  const calls: unknown[][] = [];
  const noted =
    <Args extends unknown[], Result>(name: string, then: (...args: Args) => Promise<Result>) =>
    async (...args: Args): Promise<Result> => {
      calls.push([name, ...args]);
      return await then(...args);
    };
  const all = portsWith(changes);
  const slices: Slices = {
    claim: noted('claim', all.slices.claim),
    end: noted('end', all.slices.end),
    endUncalled: noted('endUncalled', all.slices.endUncalled),
    endForTheDead: noted('endForTheDead', all.slices.endForTheDead),
    settle: noted('settle', all.slices.settle),
    find: noted('find', all.slices.find),
  };
  const reads = { look: noted('look', all.look), proven: noted('proven', all.proven), tell: noted('tell', all.tell) };
  const ports = {
    ...all,
    ...reads,
    slices,
    markUnknown: noted('markUnknown', all.markUnknown),
    call: noted('call', all.call),
  };
  const names = () => calls.map(([name]) => name);
  return { calls, names, run: () => runSlice({ claim, recipients }, ports) };
}

const unreachable = async (): Promise<never> => {
  throw new Error('the store is not there');
};
const meets = (slice: Slice) => ({ slices: { claim: async () => ({ kind: 'met', slice }) as const } });

describe('its own claim', () => {
  test('claim, look, a call for each, end; nothing else', async () => {
    const { run, calls } = world();
    expect(await run()).toEqual({ kind: 'ended', slice: ended(own, both(sent, sent)) });
    expect(calls).toEqual([
      ['claim', claim],
      ['look', claim],
      ['call', ana],
      ['call', ben],
      ['end', own, both(sent, sent)],
    ]);
  });

  test.each<[string, Changes]>([
    ['the claim is not answered', { slices: { claim: unreachable } }],
    ['what stands cannot be read', { look: unreachable }],
  ])('%s: given up for all, to be tried again, and no recipient is called', async (_, changes) => {
    const { run, calls, names } = world(changes);
    expect(await run()).toEqual({ kind: 'ended', slice: ended(own, both(retryAgain, retryAgain)) });
    expect(names()).not.toContain('call');
    expect(calls.at(-1)).toEqual(['endUncalled', claim, both(retryAgain, retryAgain)]);
  });

  test('what holds the dispatch back ends all that no receipt proves taken; none is called', async () => {
    const heldBack: Outcome = { state: 'failed', code: 'cancelled' };
    const { run, names } = world({
      look: async () => ({ heldBack: async () => heldBack, proven: new Set([1]), barred: new Map(), ofDead: lost }),
    });
    expect(await run()).toMatchObject({ slice: { outcomes: [heldBack, provenByReceipt] } });
    expect(names()).not.toContain('call');
  });

  test('a later try calls its own recipients; one that the delivery does not carry waits', async () => {
    const later = { ...claimed(ended(own, both(sent, again(7))), { ...claim, try: 1 }) };
    const { run, calls } = world({ slices: { claim: async () => ({ kind: 'claimed', slice: later }) } });
    expect(await run()).toMatchObject({ slice: { outcomes: [sent, sent] } });
    expect(calls.filter(([name]) => name === 'call')).toEqual([['call', ben]]);
    const uncarried = world();
    recipients.delete(1);
    expect(await uncarried.run()).toMatchObject({ slice: { outcomes: [sent, retryAgain] } });
    recipients.set(1, ben);
  });

  test('an unknown answer: the doubt, the end, and then the receipts', async () => {
    const { run, names, calls } = world({ call: async (who) => (who === ana ? unknown : sent) });
    expect(await run()).toMatchObject({ kind: 'ended', slice: { outcomes: [unknown, sent] } });
    expect(names().slice(4)).toEqual(['markUnknown', 'end', 'proven']);
    expect(calls[4]).toEqual(['markUnknown', key.dispatchId]);
  });

  test('what a receipt proves is told as taken, no other outcome, and nothing is written for it', async () => {
    const refused: Outcome = { state: 'failed', code: '131026' };
    const call = async (who: unknown) => (who === ana ? unknown : refused);
    const { run, calls } = world({ call, proven: async () => new Set([0, 1]) });
    expect(await run()).toMatchObject({ kind: 'ended', slice: { outcomes: [provenByReceipt, refused] } });
    expect(calls.slice(-2)).toEqual([
      ['end', own, both(unknown, refused)],
      ['proven', ended(own, both(unknown, refused))],
    ]);
    const { run: without } = world({ call, proven: async () => new Set([1]) });
    expect(await without()).toMatchObject({ kind: 'ended', slice: { outcomes: [unknown, refused] } });
  });

  describe('whose run was taken for dead', () => {
    const late = { call: async (who: unknown) => (who === ana ? sent : unknown), end: async () => undefined };
    const seen = endedForTheDead(own, 'run-2');
    const taken = takenOf(both(sent, unknown));
    const resolved = { ...sent, resolvedAtMs: own.atMs };

    test('ends late: what was taken is told as resolved, then written, and receipts are read', async () => {
      const { run, calls, names } = world({ call: late.call, slices: { end: late.end } });
      expect(await run()).toMatchObject({ kind: 'ended', slice: { owner: 'run-2', outcomes: [resolved, lost] } });
      expect(names().slice(-5)).toEqual(['end', 'find', 'tell', 'settle', 'proven']);
      expect(calls.at(-3)).toMatchObject(['tell', { outcomes: [resolved, lost] }]);
      expect(calls.at(-2)).toEqual(['settle', seen, taken, own.atMs]);
    });

    test('writes nothing that it could not tell', async () => {
      const { run, names } = world({ call: late.call, tell: unreachable, slices: { end: late.end } });
      await expect(run()).rejects.toThrow('not there');
      expect(names()).not.toContain('settle');
    });

    test('looks again at what has changed meanwhile, and leaves what was settled', async () => {
      const settlements = new Map([[0, { state: 'failed', code: 'by hand' }]] as const);
      const byHand = settled(seen, settlements, nowMs) as Slice;
      const found = [seen, byHand];
      const slices = { end: late.end, find: async () => found.shift(), settle: async () => undefined };
      const { run, names } = world({ call: late.call, slices });
      expect(await run()).toEqual({ kind: 'ended', slice: byHand });
      expect(names().slice(-5)).toEqual(['find', 'tell', 'settle', 'find', 'proven']);
    });

    test('took nothing: nothing is told or written', async () => {
      const { run, names } = world({ call: async () => unknown, slices: { end: late.end } });
      expect(await run()).toEqual({ kind: 'ended', slice: seen });
      expect(names().slice(-3)).toEqual(['end', 'find', 'proven']);
    });
  });

  test('an end that is no more its own is looked at again', async () => {
    for (const met of [undefined, own, { ...ended(own, both(sent, sent)), try: 1 }]) {
      const over = { end: async () => undefined, find: async () => met };
      expect(await world({ slices: over }).run()).toEqual({ kind: 'later' });
    }
    const { run } = world({ look: unreachable, slices: { endUncalled: async () => undefined } });
    expect(await run()).toEqual({ kind: 'later' });
  });

  test('what is known here alone is written as often as there is time', async () => {
    const times: number[] = [];
    const mayRepeat = async (failed: number) => {
      times.push(failed);
      return failed < 3;
    };
    await expect(world({ mayRepeat, slices: { end: unreachable } }).run()).rejects.toThrow('not there');
    expect(times).toEqual([1, 2, 3]);
    let ends = 0;
    const end = async (slice: Slice, outcomes: Outcomes) => (++ends < 3 ? await unreachable() : ended(slice, outcomes));
    expect(await world({ mayRepeat, slices: { end } }).run()).toMatchObject({ kind: 'ended' });
  });
});

describe('the claim of another', () => {
  test.each<[string, Slice, unknown]>([
    ['of a later try: over', { ...others, try: 1 }, { kind: 'over' }],
    ['of the try before: looked at again', { ...others, try: -1 }, { kind: 'later' }],
    ['that may live: when it is dead', others, { kind: 'later', atMs: nowMs + 90_000 }],
    ['of a moment ago', { ...others, atMs: nowMs - 89_999 }, { kind: 'later', atMs: nowMs + 1 }],
    ['of a clock of tomorrow', { ...others, atMs: nowMs + 86_400_000 }, { kind: 'later', atMs: nowMs + 90_000 }],
    ['of an acceptance that took the dispatch back: over', withdrawn({ key, size: 2, atMs: nowMs }), { kind: 'over' }],
  ])('%s', async (_, slice, end) => {
    const { run, names } = world(meets(slice));
    expect(await run()).toEqual(end);
    expect(names()).toEqual(['claim']);
  });

  test('that is dead: those with a receipt were sent to, the others are unknown', async () => {
    const dead = { ...others, atMs: nowMs - 90_000 };
    const { run, calls, names } = world({ ...meets(dead), proven: async () => new Set([1]) });
    expect(await run()).toMatchObject({ kind: 'ended', slice: { owner: 'run-1', outcomes: [lost, provenByReceipt] } });
    expect(names()).toEqual(['claim', 'look', 'markUnknown', 'endForTheDead', 'proven']);
    expect(calls[3]).toEqual(['endForTheDead', dead, 'run-1', lost]);
    const quicker = world({ ...meets(dead), slices: { ...meets(dead).slices, endForTheDead: async () => undefined } });
    expect(await quicker.run()).toEqual({ kind: 'later' });
    await expect(world({ ...meets(dead), look: unreachable }).run()).rejects.toThrow('not there');
  });

  test('that is dead, and was certainly taken after a stop: all end as the stop says, and nothing is doubtful (D53)', async () => {
    const stopped: Outcome = { state: 'failed', code: 'cancelled' };
    const dead = { ...others, atMs: nowMs - 90_000 };
    const look = async () => ({
      heldBack: async () => stopped,
      proven: new Set<number>(),
      barred: new Map(),
      ofDead: stopped,
    });
    const { run, names } = world({ ...meets(dead), look });
    expect(await run()).toMatchObject({ kind: 'ended', slice: { owner: 'run-1', outcomes: [stopped, stopped] } });
    expect(names()).toEqual(['claim', 'look', 'endForTheDead']);
  });

  test('that has ended: told again, and tried again once that is due', async () => {
    const waits = ended(others, both(sent, again(nowMs + 1)));
    expect(await world(meets(waits)).run()).toEqual({ kind: 'later', atMs: nowMs + 1 });
    for (const over of [ended(others, both(sent, again(nowMs))), ended(others, both(sent, sent))]) {
      const { run, names } = world(meets(over));
      expect(await run()).toEqual({ kind: 'ended', slice: over });
      expect(names()).toEqual(['claim']);
    }
  });
});

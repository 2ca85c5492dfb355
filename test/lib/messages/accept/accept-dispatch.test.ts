import { afterEach, describe, expect, test, vi } from 'vitest';
import type { HandOverPorts } from '../../../../lib/messages/accept/hand-over.ts';
import { RecipientTooLarge } from '../../../../lib/messages/accept/parameter-pages.ts';
import type { DispatchHead, Recipient } from '../../../../lib/messages/dispatch/head.ts';
import { decodeSmallRequest } from '../../../../lib/messages/dispatch/small-request-message.ts';
import type { WholeDispatch } from '../../../../lib/messages/dispatch/whole-dispatch.ts';
import { acceptDispatch } from '../../../support/begun-dispatches.ts';
import { makeDispatch, makeRecipients } from '../../../support/made-dispatches.ts';

afterEach(() => vi.restoreAllMocks());

interface Recording {
  readonly failing?: string;
  /** The named call fails so often; always when this is left out. */
  readonly times?: number;
  readonly error?: Error;
  readonly hanging?: string;
  readonly begin?: 'begun' | 'withdrawn';
  readonly withdraw?: 'begun' | 'withdrawn';
  readonly remainingMs?: number;
}

type Call = (name: string, signal?: AbortSignal) => Promise<void>;

/** Records the calls of the ports in order; the named call fails, or hangs until it is given up. */
function recording(options: Recording) {
  const calls: string[] = [];
  const bodies: string[] = [];
  const call: Call = async (name, signal) => {
    calls.push(name);
    const { failing, times = Number.POSITIVE_INFINITY } = options;
    const earlier = calls.filter((each) => each === name).length - 1;
    if (name === failing && earlier < times) throw options.error ?? unavailable;
    if (name !== options.hanging) return;
    await new Promise((_, reject) => signal?.addEventListener('abort', () => reject(signal.reason)));
  };
  const queue = (name: string) => ({
    send: async (body: string, group: string, signal: AbortSignal) => {
      bodies.push(`${name} for ${group}: ${body}`);
      await call(name, signal);
    },
  });
  const ports: HandOverPorts = {
    acceptance: acceptanceOf(options, call),
    urgentQueue: queue('urgent queue'),
    wake: async ({ dispatchId }, signal) => await call(`wake ${dispatchId}`, signal),
    ...{ limitOf: async () => 40, remainingMs: () => options.remainingMs ?? 29_000 },
  };
  return { calls, bodies, ports };
}

function acceptanceOf({ begin = 'begun', withdraw = 'withdrawn' }: Recording, call: Call): HandOverPorts['acceptance'] {
  return {
    store: (_, signal) => call('store', signal),
    list: (_, signal) => call('list', signal),
    begin: (_, signal) => call('begin', signal).then(() => begin),
    beginStraight: (_, signal) => call('begin', signal).then(() => 'begun'),
    withdraw: (dispatchId, signal) => call(`withdraw ${dispatchId}`, signal).then(() => withdraw),
  };
}

const unavailable = new Error('unavailable');
const dispatchOf = (count: number, head: Partial<DispatchHead> = {}): WholeDispatch =>
  makeDispatch(makeRecipients(count), { dispatchId: 'J', clientId: 1002, ...head });
const small = dispatchOf(10);
const large = dispatchOf(11);

async function queuedOf(dispatch: WholeDispatch) {
  const { bodies, ports } = recording({});
  await acceptDispatch(dispatch, ports);
  const [, body = ''] = /^urgent queue for 1002: (.*)$/s.exec(bodies.join()) ?? [];
  return decodeSmallRequest(body);
}

test('a dispatch is stored and begun, then its senders are woken, then it is listed (D25, D40)', async () => {
  const { calls, bodies, ports } = recording({});
  await acceptDispatch(dispatchOf(11, { correlationId: 'c' }), ports);
  expect([calls, bodies]).toEqual([['store', 'begin', 'wake J', 'list'], []]);
});

test('a retry is stored and begun, however few they are (D57)', async () => {
  const { calls, ports } = recording({});
  await acceptDispatch(dispatchOf(2, { retryOf: 'S' }), ports);
  expect(calls).toEqual(['store', 'begin', 'wake J', 'list']);
});

describe('the beginning decides (D25, R20)', () => {
  test('what was withdrawn meanwhile is refused', async () => {
    const { calls, ports } = recording({ begin: 'withdrawn' });
    await expect(acceptDispatch(large, ports)).rejects.toMatchObject({ code: 'dispatch_unavailable' });
    expect(calls).toEqual(['store', 'begin', 'withdraw J']);
  });

  test('one that is not confirmed is tried again, then taken back, and refused unless it has begun', async () => {
    const { calls, ports } = recording({ failing: 'begin' });
    await expect(acceptDispatch(large, ports)).rejects.toMatchObject(dispatchUnavailable);
    expect(calls).toEqual(['store', 'begin', 'begin', 'withdraw J']);
    const begun = recording({ failing: 'begin', withdraw: 'begun' });
    await acceptDispatch(large, begun.ports);
    expect(begun.calls).toEqual([...calls, 'wake J', 'list']);
  });

  test('one failure is none', async () => {
    const { calls, ports } = recording({ failing: 'begin', times: 1 });
    await acceptDispatch(large, ports);
    expect(calls).toEqual(['store', 'begin', 'begin', 'wake J', 'list']);
  });
});

describe('a request of up to ten recipients goes straight (D25)', () => {
  test('whole into the queue of small requests, with nothing stored before', async () => {
    const { calls, ports } = recording({});
    await acceptDispatch(small, ports);
    expect(calls).toEqual(['urgent queue', 'begin']);
    expect(await queuedOf(small)).toEqual({ ...small, limitPerSecond: 40 });
  });

  test('with all that its head says, and its header', async () => {
    const dispatch: WholeDispatch = {
      ...dispatchOf(3, {
        ...{ campaignId: 7, attends: { agent: 'Ana' }, expiresAtMs: 9, urgent: true, receiptsExpected: true },
        ...{ correlationId: 'c', path: 'marketing_messages', heedsOptOuts: true, byUserId: true },
      }),
      header: { type: 'image_url', value: 'https://cdn.example.com/a.png' },
    };
    expect(await queuedOf(dispatch)).toEqual({ ...dispatch, limitPerSecond: 40 });
  });

  test('text is read as it was written, whatever SQS refuses of it (R22)', async () => {
    const recipients: Recipient[] = [{ to: 'US.a', params: { body: ['\ufffe🙂\ud800'], buttons: ['1'] } }];
    expect((await queuedOf({ ...dispatchOf(1), recipients })).recipients).toEqual(recipients);
  });

  test.each<[string, WholeDispatch]>([
    ['eleven recipients', large],
    ['dropped ones, which its report counts', { ...small, repeats: [[10, 0]] }],
    ['a time of its own (D56)', makeDispatch(makeRecipients(1), { dispatchId: 'J', when: { asked: {}, fromMs: 1 } })],
    ['more than its message may hold', makeDispatch(makeRecipients(3, 70_000), { dispatchId: 'J' })],
  ])('not one with %s', async (_, dispatch) => {
    const { calls, ports } = recording({});
    await acceptDispatch(dispatch, ports);
    expect(calls).toEqual(['store', 'begin', 'wake J', 'list']);
  });
});

const dispatchUnavailable = {
  code: 'dispatch_unavailable',
  message: 'the messages could not be queued; none of them will be sent',
  cause: unavailable,
};

test('what cannot be stored never begins: there is nothing to take back', async () => {
  const { calls, ports } = recording({ failing: 'store' });
  await expect(acceptDispatch(large, ports)).rejects.toMatchObject(dispatchUnavailable);
  expect(calls).toEqual(['store']);
});

test.each<[at: number, repeats: [number, number][], place: number, positions?: number[]]>([
  [2, [], 2],
  [1, [[1, 0]], 2],
  [2, [[1, 0], [2, 0], [5, 4]], 4], // biome-ignore format: one row
  // The dispatch's places follow the order of its lots (D56).
  [1, [[1, 0]], 7, [9, 7]],
])(
  'recipient %i, which no item can hold, is refused by its place in the request',
  async (at, repeats, place, positions) => {
    const { calls, ports } = recording({ failing: 'store', error: new RecipientTooLarge(at, 400_000) });
    const path = `recipients[${place}].params`;
    const message = 'expected at most 390000 bytes of JSON, received 400000';
    const dispatch = { ...large, ...(repeats.length === 0 ? {} : { repeats }), positions };
    await expect(acceptDispatch(dispatch, ports)).rejects.toMatchObject({
      code: 'invalid_recipients',
      message: `${path}: ${message}`,
      details: { errors: [{ path, message }] },
    });
    expect(calls).toEqual(['store']);
  },
);

test('what the queue did not confirm of a straight one is taken back, and refused unless a worker has it (R20)', async () => {
  const { calls, ports } = recording({ failing: 'urgent queue' });
  await expect(acceptDispatch(small, ports)).rejects.toMatchObject(dispatchUnavailable);
  expect(calls).toEqual(['urgent queue', 'withdraw J']);
  const begun = recording({ failing: 'urgent queue', withdraw: 'begun' });
  await acceptDispatch(small, begun.ports);
  expect(begun.calls).toEqual([...calls, 'begin']);
});

test.each([
  ['begin', large],
  ['urgent queue', small],
])('what can neither be confirmed nor be taken back is not known, and said so: %s', async (failing, dispatch) => {
  passingLimits();
  const { ports } = recording({ hanging: 'withdraw J', failing });
  await expect(acceptDispatch(dispatch, ports)).rejects.toMatchObject({ code: 'dispatch_undecided' });
});

test.each([
  ['wake J', large, 'dispatch.not_woken', 'list'],
  ['list', large, 'dispatch.not_described', 'list'],
  ['begin', small, 'dispatch.not_described', 'begin'],
])('a dispatch that is handed over counts, also where %s fails or hangs', async (name, dispatch, event, last) => {
  passingLimits();
  for (const { calls, ports } of [recording({ failing: name }), recording({ hanging: name })]) {
    const lines = await linesOf(() => acceptDispatch(dispatch, ports));
    expect(calls.at(-1)).toBe(last);
    expect(lines).toMatchObject([{ event, dispatchId: 'J', error: 'Error' }]);
  }
});

test.each([
  ['store', large],
  ['begin', large],
  ['urgent queue', small],
])('%s hanging, it is given up in time for the answer', async (hanging, dispatch) => {
  const limits = passingLimits();
  await expect(acceptDispatch(dispatch, recording({ hanging }).ports)).rejects.toMatchObject({
    code: 'dispatch_unavailable',
  });
  expect(limits.every((limitMs) => limitMs <= 4_000)).toBe(true);
});

test.each([small, large])(
  'without the time to hand it over, take it back and answer nothing is asked for (%#)',
  async (dispatch) => {
    const late = recording({ remainingMs: 12_499 });
    await expect(acceptDispatch(dispatch, late.ports)).rejects.toMatchObject({
      code: 'dispatch_unavailable',
      cause: { message: 'too little time left' },
    });
    expect(late.calls).toEqual([]);
    await acceptDispatch(dispatch, recording({ remainingMs: 12_500 }).ports);
  },
);

/** Collects the limits of all waits, in order. Each wait ends a hundred times sooner, the shortest first. */
function passingLimits(): number[] {
  const limits: number[] = [];
  vi.spyOn(AbortSignal, 'timeout').mockImplementation((ms) => {
    limits.push(ms);
    const ended = new AbortController();
    setTimeout(() => ended.abort(new Error('given up')), ms / 100);
    return ended.signal;
  });
  return limits;
}

async function linesOf(work: () => Promise<void>): Promise<unknown[]> {
  const write = vi.spyOn(process.stdout, 'write').mockReturnValue(true);
  await work();
  const lines = write.mock.calls.map(([line]): unknown => JSON.parse(String(line)));
  write.mockRestore();
  return lines;
}

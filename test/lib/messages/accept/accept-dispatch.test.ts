import * as v from 'valibot';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { LaterVersion } from '../../../../lib/aws/queued-message.ts';
import type { HandOverPorts } from '../../../../lib/messages/accept/hand-over.ts';
import { RecipientTooLarge } from '../../../../lib/messages/accept/parameter-pages.ts';
import { decodeRound, encodeRound } from '../../../../lib/messages/accept/round-message.ts';
import { addressesOfChunk, headOfChunk, QueuedChunkSchema } from '../../../../lib/messages/dispatch/chunk.ts';
import type { DispatchHead, Recipient } from '../../../../lib/messages/dispatch/head.ts';
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
    ...{ queue: queue('queue'), urgentQueue: queue('urgent queue') },
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

async function chunkOf(dispatch: WholeDispatch) {
  const { bodies, ports } = recording({});
  await acceptDispatch(dispatch, ports);
  const [, body = ''] = /^urgent queue for 1002: (.*)$/s.exec(bodies.join()) ?? [];
  return v.parse(QueuedChunkSchema, JSON.parse(body));
}

test('a dispatch is stored and begun, then the fan-out is woken by its id alone, then it is listed (D25, D40)', async () => {
  const { calls, bodies, ports } = recording({});
  await acceptDispatch(dispatchOf(11, { correlationId: 'c' }), ports);
  expect(calls).toEqual(['store', 'begin', 'queue', 'list']);
  const [, text = ''] = /^queue for 1002: (.*)$/.exec(bodies.join()) ?? [];
  const message = { dispatchId: 'J', clientId: 1002, acceptedAtMs: large.head.acceptedAtMs, correlationId: 'c' };
  expect(JSON.parse(text)).toEqual({ version: 1, ...message });
  expect(decodeRound(text)).toEqual(message);
  const later = { ...message, round: 3, parkedSeconds: 15 };
  expect(decodeRound(encodeRound(later))).toEqual(later);
});

test('a retry is stored and begun, however few they are (D57)', async () => {
  const { calls, ports } = recording({});
  await acceptDispatch(dispatchOf(2, { retryOf: 'S' }), ports);
  expect(calls).toEqual(['store', 'begin', 'queue', 'list']);
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
    expect(begun.calls).toEqual([...calls, 'queue', 'list']);
  });

  test('one failure is none', async () => {
    const { calls, ports } = recording({ failing: 'begin', times: 1 });
    await acceptDispatch(large, ports);
    expect(calls).toEqual(['store', 'begin', 'begin', 'queue', 'list']);
  });
});

test.each([
  ['nothing', '', 'SyntaxError'],
  ['no dispatch', '{"version":1}', 'ValiError'],
  ['one of a later version', '{"version":2}', LaterVersion.name],
])('refuses to read %s as a dispatch', (_, body, name) => {
  expect(() => decodeRound(body)).toThrow(expect.objectContaining({ name }));
});

describe('a request of up to ten recipients goes straight (D25)', () => {
  test('as one chunk into the queue of small requests, with nothing stored before', async () => {
    const { calls, ports } = recording({});
    await acceptDispatch(small, ports);
    expect(calls).toEqual(['urgent queue', 'begin']);
    const chunk = await chunkOf(small);
    expect(chunk).toMatchObject({ version: 1, straight: true, alone: true, lane: '*', limitPerSecond: 40 });
    expect(chunk.slices).toMatchObject([{ try: 0, size: 10, recipients: Array(10).fill({}) }]);
    expect(chunk.slices[0]?.recipients[9]).toMatchObject({
      ...{ index: 9, to: '5491155000009' },
      request: { to: '5491155000009', biz_opaque_callback_data: 'J-9' },
    });
    expect(addressesOfChunk(chunk)).toEqual(small.recipients.map(({ to }) => to));
  });

  test.each<Partial<DispatchHead>>([
    {},
    {
      ...{ campaignId: 7, attends: { agent: 'Ana' }, expiresAtMs: 9, urgent: true, receiptsExpected: true },
      ...{ correlationId: 'c', path: 'marketing_messages', heedsOptOuts: true },
    },
  ])(
    'its chunk says all that the head of its dispatch does, with the limit of its number as last read (%#)',
    async (head) => {
      const dispatch = dispatchOf(3, head);
      expect(headOfChunk(await chunkOf(dispatch))).toEqual({ ...dispatch.head, throughputPerSecond: 40 });
    },
  );

  test('the head of its dispatch says whether a recipient is addressed by user id', async () => {
    const [one, other] = makeRecipients(2);
    const recipients = [one, { ...other, to: 'US.1' }] as Recipient[];
    const dispatch = { ...dispatchOf(2, { byUserId: true }), recipients };
    expect(headOfChunk(await chunkOf(dispatch))).toEqual({ ...dispatch.head, throughputPerSecond: 40 });
  });

  test('a recipient that cannot be composed is in the chunk without a request, fails there, and is logged', async () => {
    const logged = vi.spyOn(process.stdout, 'write').mockReturnValue(true);
    const recipients: Recipient[] = [...makeRecipients(1), { to: '5491100000001', params: { body: [] } }];
    const { slices } = await chunkOf({ ...dispatchOf(2), recipients });
    expect(slices[0]?.recipients).toEqual([
      expect.objectContaining({ request: expect.anything() }),
      { index: 1, to: '5491100000001', params: { body: [] } },
    ]);
    expect(logged.mock.calls.join()).toMatch(/"dispatch\.not_composable".*"J-1"/);
  });

  test('text is read as it was written, whatever SQS refuses of it (R22)', async () => {
    const recipients: Recipient[] = [{ to: 'US.a', params: { body: ['\ufffe🙂\ud800'], buttons: ['1'] } }];
    const { slices } = await chunkOf({ ...dispatchOf(1), recipients });
    expect(JSON.stringify(slices[0]?.recipients[0]?.request)).toContain('\ufffe🙂\\ud800');
  });

  test.each<[string, WholeDispatch]>([
    ['eleven recipients', large],
    ['dropped ones, which its report counts', { ...small, repeats: [[10, 0]] }],
    ['a time of its own (D56)', makeDispatch(makeRecipients(1), { dispatchId: 'J', when: { asked: {}, fromMs: 1 } })],
    ['more than a chunk holds', makeDispatch(makeRecipients(3, 70_000), { dispatchId: 'J' })],
  ])('not one with %s', async (_, dispatch) => {
    const { calls, ports } = recording({});
    await acceptDispatch(dispatch, ports);
    expect(calls).toEqual(['store', 'begin', 'queue', 'list']);
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
  ['queue', large, 'dispatch.not_woken', 'list'],
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

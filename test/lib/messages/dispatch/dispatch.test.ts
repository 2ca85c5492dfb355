import { describe, expect, test } from 'vitest';
import { type Claim, claimLifeMs } from '../../../../lib/messages/dispatch/claim.ts';
import { dispatchBatch } from '../../../../lib/messages/dispatch/dispatch.ts';
import type { Handover } from '../../../../lib/messages/dispatch/platform-messages.ts';
import type { DispatchMessage } from '../../../../lib/messages/job.ts';
import { correlationId } from '../../../../lib/observe/correlation.ts';
import { type FailureFacts, type FailureKind, PlatformFailure } from '../../../../lib/platform/failure.ts';
import type { EventSink } from '../../../../lib/webhooks/event.ts';
import { dispatchMessage } from '../../../faults/scenario-job.ts';
import { countedBy } from '../../../support/counted.ts';
import { DispatchWorld, deliveryOf } from '../../../support/dispatch-ports.ts';

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

function failingWith(kind: FailureKind, facts: FailureFacts = {}) {
  return async (): Promise<Handover> => {
    throw new PlatformFailure(kind, facts);
  };
}

test('a batch of ten costs ten claims and one batch record (R15)', async () => {
  const world = new DispatchWorld();
  const batch = Array.from({ length: 10 }, (_, index) => deliveryOf(dispatchMessage(index), `message-${index}`));
  // Where nothing is to be told, the event queue is not called.
  world.events.broken = true;
  expect(await dispatchBatch(batch, world.ports())).toEqual([]);
  const facts = { count: 10, tally: { sent: 10 } };
  expect(world.logged).toEqual([{ event: 'dispatch.batch', facts }]);
  expect(world.posted).toHaveLength(10);
  expect(world.storeCalls).toEqual([...Array(10).fill('take'), 'recordBatch']);
  expect(Object.keys(world.store.batches['run-1'] ?? {})).toHaveLength(10);
});

test.each([
  ['not JSON', '{', 'SyntaxError'],
  ['not a dispatch message', { jobId: 'J' }, 'ValiError'],
])('a record that is %s fails alone, and loudly (R18)', async (_, body, error) => {
  const world = new DispatchWorld();
  const batch = [
    deliveryOf(dispatchMessage(0), 'good-0'),
    deliveryOf(body, 'bad'),
    deliveryOf(dispatchMessage(1), 'good-1'),
  ];
  expect(await dispatchBatch(batch, world.ports())).toEqual(['bad']);
  expect(world.posted).toHaveLength(2);
  expect(world.logged).toContainEqual({ event: 'dispatch.error', facts: { error } });
});

test('throttled for a day: never reported failed, always a copy with a longer wait (R17)', async () => {
  const world = new DispatchWorld();
  let message: DispatchMessage = dispatchMessage(0);
  const throttled = failingWith('refused', { code: 130429 });
  const delays: number[] = [];
  for (let attempt = 0; attempt < 200; attempt += 1) {
    expect(await dispatchBatch([deliveryOf(message)], world.ports({ send: throttled }))).toEqual([]);
    const copy = world.copies.pop();
    if (copy === undefined) break;
    message = copy.message;
    delays.push(copy.delaySeconds);
    world.nowMs += copy.delaySeconds * 1_000;
  }
  expect(message.attempt).toBe(delays.length);
  expect(delays.slice(0, 11)).toEqual([1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 900]);
  // A day of that, and it ends.
  expect(world.store.claims['J-0']).toMatchObject({ state: 'failed', code: 'retry_deadline' });
  expect(world.nowMs - message.acceptedAtMs).toBeLessThanOrEqual(dayMs);
});

test('after throttling the claim is gone and the copy is sent', async () => {
  const world = new DispatchWorld();
  const throttled = failingWith('refused', { code: 131056 });
  await dispatchBatch([deliveryOf(dispatchMessage(0))], world.ports({ send: throttled }));
  expect(world.store.claims).toEqual({});
  expect(world.tallied()).toEqual([{ retry_pair: 1 }]);
  await dispatchBatch([deliveryOf(world.copies[0]?.message)], world.ports());
  expect(world.posted).toHaveLength(1);
  expect(world.posted[0]?.attempt).toBe(1);
});

test('when the copy cannot be queued the delivery is reported failed and can be tried again', async () => {
  const world = new DispatchWorld();
  const ports = world.ports({ send: failingWith('not_sent') });
  const queue = { ...ports.queue, sendLater: async () => Promise.reject(new Error('SQS is away')) };
  expect(await dispatchBatch([deliveryOf(dispatchMessage(0))], { ...ports, queue })).toEqual(['message-0']);
  expect(await dispatchBatch([deliveryOf(dispatchMessage(0))], world.ports())).toEqual([]);
  expect(world.posted).toHaveLength(1);
});

test('while claims cannot be written nothing is sent and no delivery is used up', async () => {
  const world = new DispatchWorld();
  const claims = { ...world.claims, take: async () => Promise.reject(new Error('DynamoDB is away')) };
  expect(await dispatchBatch([deliveryOf(dispatchMessage(0))], world.ports({ claims }))).toEqual([]);
  expect(world.posted).toEqual([]);
  expect(world.copies).toMatchObject([{ delaySeconds: 5, message: { attempt: 1 } }]);
  expect(world.tallied()).toEqual([{ claim_failed_Error: 1, retry_claims: 1 }]);
});

test('what is too late comes again while claims cannot be written: no copy of it would come in time', async () => {
  const world = new DispatchWorld();
  const claims = { ...world.claims, take: async () => Promise.reject(new Error('DynamoDB is away')) };
  const late = deliveryOf(dispatchMessage(0, { expiresAtMs: world.nowMs }));
  expect(await dispatchBatch([late], world.ports({ claims }))).toEqual(['message-0']);
  expect(world.copies).toEqual([]);
});

test.each([
  [
    'refused',
    { code: 131026, userMessage: 'no such number' },
    { state: 'failed', code: '131026', reason: 'no such number' },
  ],
  ['ambiguous', {}, { state: 'unknown', code: 'no_answer' }],
  ['ambiguous', { httpStatus: 502 }, { state: 'unknown', code: 'http_502' }],
] as const)('%s %j settles the claim and is never tried again', async (kind, facts, settled) => {
  const world = new DispatchWorld();
  const first = await dispatchBatch([deliveryOf(dispatchMessage(0))], world.ports({ send: failingWith(kind, facts) }));
  expect(first).toEqual([]);
  expect(world.store.claims['J-0']).toMatchObject(settled);
  await dispatchBatch([deliveryOf(dispatchMessage(0))], world.ports());
  expect(world.posted).toEqual([]);
  expect(JSON.stringify(world.logged)).not.toContain('no such number');
});

test('a refused credential is retried late, and loudly', async () => {
  const world = new DispatchWorld();
  const send = failingWith('refused', { httpStatus: 401, code: 190 });
  await dispatchBatch([deliveryOf(dispatchMessage(0))], world.ports({ send }));
  expect(world.copies[0]?.delaySeconds).toBe(120);
  const facts = { dispatchId: 'J-0', clientId: 1001 };
  expect(world.logged).toContainEqual({ event: 'dispatch.credential_refused', facts });
});

test('a young claim of another run is waited out for exactly the rest of its life', async () => {
  const world = new DispatchWorld();
  await dispatchBatch([deliveryOf(dispatchMessage(0))], world.ports());
  world.nowMs += 20_000;
  expect(await dispatchBatch([deliveryOf(dispatchMessage(0))], world.ports())).toEqual(['message-0']);
  expect(world.postponed).toEqual([{ receiptHandle: 'receipt of message-0', seconds: (claimLifeMs - 20_000) / 1_000 }]);
  expect(world.posted).toHaveLength(1);
});

test('an old claim with a batch record is done, one without ends unknown; neither is sent again', async () => {
  const world = new DispatchWorld();
  const claims = { ...world.claims, recordBatch: async () => Promise.reject(new Error('DynamoDB is away')) };
  await dispatchBatch([deliveryOf(dispatchMessage(0))], world.ports());
  const unrecorded = await dispatchBatch([deliveryOf(dispatchMessage(1))], world.ports({ claims }));
  expect(unrecorded).toEqual(['message-0']);
  world.nowMs += claimLifeMs;
  const again = [deliveryOf(dispatchMessage(0), 'a'), deliveryOf(dispatchMessage(1), 'b')];
  expect(await dispatchBatch(again, world.ports())).toEqual([]);
  expect(world.posted).toHaveLength(2);
  expect(world.store.claims['J-0']?.state).toBe('claimed');
  expect(world.store.claims['J-1']).toMatchObject({ state: 'unknown', code: 'worker_lost' });
});

test('a dead-letter redrive after 13 days sends nothing again (R24)', async () => {
  const world = new DispatchWorld();
  await dispatchBatch([deliveryOf(dispatchMessage(0))], world.ports());
  await dispatchBatch([deliveryOf(dispatchMessage(1))], world.ports({ send: failingWith('ambiguous') }));
  world.nowMs += 13 * dayMs;
  const redriven = [deliveryOf(dispatchMessage(0), 'a'), deliveryOf(dispatchMessage(1), 'b')];
  expect(await dispatchBatch(redriven, world.ports())).toEqual([]);
  expect(world.posted).toHaveLength(1);
});

test.each([
  ['expired', { expiresAtMs: 1_800_000_030_000 }, 30_000, { state: 'expired' }],
  ['retried for a day', { attempt: 1 }, dayMs, { state: 'failed', code: 'retry_deadline' }],
  ['older than claims are remembered', {}, 28 * dayMs, { state: 'failed', code: 'retry_deadline' }],
])('a message %s ends without a call (D27)', async (_, changes, afterMs, settled) => {
  const world = new DispatchWorld();
  world.nowMs += afterMs;
  expect(await dispatchBatch([deliveryOf(dispatchMessage(0, changes))], world.ports())).toEqual([]);
  expect(world.posted).toEqual([]);
  expect(world.store.claims['J-0']).toMatchObject(settled);
});

test.each([
  ['first delivered after two days of backlog', {}, 2 * dayMs],
  ['a moment before its expiry', { expiresAtMs: 1_800_000_030_000 }, 29_999],
  ['retried for less than a day', { attempt: 3 }, dayMs - 1],
  ['retried for longer, as it expires later', { attempt: 3, expiresAtMs: 1_800_000_000_000 + 3 * dayMs }, 2 * dayMs],
])('a message %s is still sent', async (_, changes, afterMs) => {
  const world = new DispatchWorld();
  world.nowMs += afterMs;
  await dispatchBatch([deliveryOf(dispatchMessage(0, changes))], world.ports());
  expect(world.posted).toHaveLength(1);
});

test.each([
  [12_999, ['message-0'], []],
  [13_000, [], ['take', 'recordBatch']],
])('no send starts with less than 13 s left, or is claimed: %i ms', async (remainingMs, again, calls) => {
  const world = new DispatchWorld();
  const ports = world.ports({ remainingMs: () => remainingMs });
  expect(await dispatchBatch([deliveryOf(dispatchMessage(0))], ports)).toEqual(again);
  expect(world.storeCalls).toEqual(calls);
});

test('a claim that took too long to write is given back', async () => {
  const world = new DispatchWorld();
  const left = [20_000, 12_000];
  const ports = world.ports({ remainingMs: () => left.shift() ?? 0 });
  expect(await dispatchBatch([deliveryOf(dispatchMessage(0))], ports)).toEqual(['message-0']);
  expect(world.posted).toEqual([]);
  expect(world.store.claims).toEqual({});
});

test('two copies in one batch are sent once, the other comes again', async () => {
  const world = new DispatchWorld();
  const copies = [deliveryOf(dispatchMessage(0), 'a'), deliveryOf(dispatchMessage(0), 'b')];
  expect(await dispatchBatch(copies, world.ports())).toEqual(['b']);
  expect(world.posted).toHaveLength(1);
});

test('a claim under the own name, whose reply was lost, is sent (R16)', async () => {
  const world = new DispatchWorld();
  const claims = {
    ...world.claims,
    take: async (claim: Claim): Promise<Claim> => {
      await world.claims.take(claim);
      return claim;
    },
  };
  expect(await dispatchBatch([deliveryOf(dispatchMessage(0))], world.ports({ claims }))).toEqual([]);
  expect(world.posted).toHaveLength(1);
  expect(world.postponed).toEqual([]);
});

test('a worker that is as slow as it may be, and its clock 5 s off, is waited for (R13)', async () => {
  const world = new DispatchWorld();
  await dispatchBatch([deliveryOf(dispatchMessage(0))], world.ports());
  // Its batch record is not written yet.
  world.store = { ...world.store, batches: {} };
  for (const ageMs of [30_000, 60_000, 65_000, 89_999]) {
    world.nowMs = 1_800_000_000_000 + ageMs;
    expect(await dispatchBatch([deliveryOf(dispatchMessage(0))], world.ports())).toEqual(['message-0']);
    expect(world.store.claims['J-0']?.state).toBe('claimed');
  }
  expect(world.postponed.map(({ seconds }) => seconds)).toEqual([60, 30, 25, 1]);
});

test('a message that expires while its claim is written is not sent (D27)', async () => {
  const world = new DispatchWorld();
  const claims = {
    ...world.claims,
    take: async (claim: Claim) => {
      const existing = await world.claims.take(claim);
      world.nowMs += 5_000;
      return existing;
    },
  };
  const message = dispatchMessage(0, { expiresAtMs: world.nowMs + 5_000 });
  expect(await dispatchBatch([deliveryOf(message)], world.ports({ claims }))).toEqual([]);
  expect(world.posted).toEqual([]);
  expect(world.store.claims['J-0']).toMatchObject({ state: 'expired' });
  expect(world.events.sent).toMatchObject([{ type: 'message.expired' }]);
});

test('a batch record is tried three times while there is time, and counted once', async () => {
  const world = new DispatchWorld();
  const pauses: number[] = [];
  let failures = 2;
  const recordBatch: typeof world.claims.recordBatch = async (...record) => {
    failures -= 1;
    if (failures >= 0) throw new Error('DynamoDB is away');
    await world.claims.recordBatch(...record);
  };
  const ports = world.ports({
    claims: { ...world.claims, recordBatch },
    pause: async (ms) => void pauses.push(ms),
  });
  const lines = await countedBy(async () => {
    expect(await dispatchBatch([deliveryOf(dispatchMessage(0))], ports)).toEqual([]);
  });
  expect(pauses).toEqual([500, 1_000]);
  expect(Object.values(world.store.batches)).toHaveLength(1);
  expect(lines).toMatchObject([{ MessagesSent: 1 }]);
  expect(lines[0]).not.toHaveProperty('MessagesHeld');
  expect(world.logged.filter(({ event }) => event === 'dispatch.batch_not_recorded')).toMatchObject(
    [1, 2].map((attempt) => ({ facts: { count: 1, attempt, error: 'Error' } })),
  );
  failures = 3;
  expect(await dispatchBatch([deliveryOf(dispatchMessage(1))], ports)).toEqual(['message-0']);
});

test('messages that left without a record are found in the log by their ids: they end unknown', async () => {
  const world = new DispatchWorld();
  const send = async ({ index }: DispatchMessage) => ({
    platformMessageId: `platform-${index}`,
    ...(index === 1 ? { messageStatus: 'paused' } : {}),
  });
  const claims = { ...world.claims, recordBatch: async () => Promise.reject(new Error('DynamoDB is away')) };
  const batch = [0, 1].map((index) => deliveryOf(dispatchMessage(index), `message-${index}`));
  expect(await dispatchBatch(batch, world.ports({ send, claims }))).toEqual(['message-0', 'message-1']);
  expect(world.logged.slice(-2)).toEqual([
    { event: 'dispatch.sent', facts: { dispatchId: 'J-0' } },
    { event: 'dispatch.held', facts: { dispatchId: 'J-1', code: 'paused' } },
  ]);
});

test.each([
  [4_999, 1],
  [5_000, 2],
])('with %i ms left before the function ends, a batch record is tried so often: %i', async (remainingMs, tried) => {
  const world = new DispatchWorld();
  let tries = 0;
  const recordBatch = async () => {
    tries += 1;
    throw new Error('DynamoDB is away');
  };
  const left = [20_000, 20_000, remainingMs];
  const ports = world.ports({ claims: { ...world.claims, recordBatch }, remainingMs: () => left.shift() ?? 0 });
  expect(await dispatchBatch([deliveryOf(dispatchMessage(0))], ports)).toEqual(['message-0']);
  expect(tries).toBe(tried);
});

test('a throttled message waits as long as the platform asks (R17)', async () => {
  const world = new DispatchWorld();
  const send = failingWith('refused', { httpStatus: 429, retryAfterSeconds: 77 });
  await dispatchBatch([deliveryOf(dispatchMessage(0))], world.ports({ send }));
  expect(world.copies.map(({ delaySeconds }) => delaySeconds)).toEqual([77]);
});

test('an own claim that somebody settled while its reply was lost is not sent', async () => {
  const world = new DispatchWorld();
  const claims = {
    ...world.claims,
    take: async (claim: Claim): Promise<Claim> => ({ ...claim, state: 'unknown', code: 'worker_lost' }),
  };
  expect(await dispatchBatch([deliveryOf(dispatchMessage(0))], world.ports({ claims }))).toEqual([]);
  expect(world.posted).toEqual([]);
});

const about = { did: '5491100000001', template: { name: 'order_update', language: 'en_US' } };

test.each<[string, Partial<DispatchMessage>, FailureKind, FailureFacts, Record<string, unknown>]>([
  [
    'failed',
    { about: { ...about, campaignId: 10, attends: { waitTime: -1 } } },
    'refused',
    { code: 131026, userMessage: 'undeliverable' },
    { campaign_id: 10, attends: { waitTime: -1 }, code: '131026', platform_code: 131026, reason: 'undeliverable' },
  ],
  ['unknown', {}, 'ambiguous', {}, { code: 'no_answer' }],
  ['expired', { expiresAtMs: 1 }, 'not_sent', {}, { code: 'expired' }],
])(
  '%s is told, once more with the same id when it is delivered again (D34)',
  async (state, changes, kind, facts, more) => {
    const world = new DispatchWorld();
    const message = dispatchMessage(3, changes);
    const send = failingWith(kind, facts);
    for (let delivery = 0; delivery < 2; delivery += 1) {
      expect(await dispatchBatch([deliveryOf(message)], world.ports({ send }))).toEqual([]);
    }
    const [event, again] = world.events.sent;
    expect(event).toEqual({
      id: expect.any(String),
      clientId: 1001,
      type: `message.${state}`,
      timestampMs: world.nowMs,
      data: { job_id: 'J', message_id: 'J-3', ...aboutData, ...more },
    });
    expect(again).toEqual(event);
  },
);

const aboutData = {
  did: about.did,
  template: about.template,
  to: '5491100000000',
  accepted_at: new Date(1_800_000_000_000).toISOString(),
};

test('a batch queues its events in one call; not queued, exactly those messages come again and are not sent again', async () => {
  const world = new DispatchWorld();
  const batch = [0, 1, 2].map((index) => deliveryOf(dispatchMessage(index), `message-${index}`));
  const send = async ({ index }: DispatchMessage): Promise<Handover> => {
    world.posted.push(dispatchMessage(index));
    if (index > 0) throw new PlatformFailure('refused', { code: 131026 });
    return { platformMessageId: 'platform-0' };
  };
  world.events.broken = true;
  expect(await dispatchBatch(batch, world.ports({ send }))).toEqual(['message-1', 'message-2']);
  expect(world.logged).toContainEqual({ event: 'event.not_queued', facts: { count: 2, error: 'Error' } });
  world.events.broken = false;
  let calls = 0;
  const events: EventSink = { send: (told) => world.events.send(told).finally(() => (calls += 1)) };
  expect(await dispatchBatch(batch.slice(1), world.ports({ send, events }))).toEqual([]);
  expect(calls).toBe(1);
  expect(world.events.sent.map(({ type }) => type)).toEqual(['message.failed', 'message.failed']);
  expect(world.posted).toHaveLength(3);
});

test.each(['sent', 'failed'] as const)(
  'what an operator settled as %s is no event, only the end of its job (D34, D41)',
  async (state) => {
    const world = new DispatchWorld();
    const settled = { state, code: 'resolved_by_operator', resolvedAtMs: world.nowMs };
    const claim = (index: number): Claim => ({ key: { jobId: 'J', index }, at: 'run-0/0', claimedAtMs: 0, ...settled });
    world.store = { ...world.store, claims: { 'J-0': claim(0), 'J-1': claim(1) } };
    const redelivered = [deliveryOf(dispatchMessage(0), 'a'), deliveryOf(dispatchMessage(1, { alone: true }), 'b')];
    expect(await dispatchBatch(redelivered, world.ports())).toEqual([]);
    expect(world.posted).toEqual([]);
    expect(world.events.sent).toMatchObject([
      { type: 'dispatch.completed', data: { counts: { [state]: 1 }, total: 1 } },
    ]);
  },
);

test('every message is counted once, by what became of it', async () => {
  const world = new DispatchWorld();
  const fates: Readonly<Record<number, () => Promise<Handover>>> = {
    1: failingWith('refused', { httpStatus: 400, code: 131026 }),
    2: failingWith('ambiguous'),
    3: failingWith('refused', { httpStatus: 429 }),
    6: async () => ({ platformMessageId: 'platform-6', messageStatus: 'held_for_quality_assessment' }),
  };
  const send = async ({ index }: DispatchMessage) =>
    (await fates[index]?.()) ?? { platformMessageId: `platform-${index}` };
  const batch = [0, 1, 2, 3, 4, 5, 6].map((index) =>
    deliveryOf(dispatchMessage(index, index === 5 ? { expiresAtMs: world.nowMs } : {}), `message-${index}`),
  );
  const lines = await countedBy(() => dispatchBatch(batch, world.ports({ send })));
  expect(lines).toMatchObject([
    { MessagesSent: 2, MessagesHeld: 1, MessagesFailed: 1, MessagesUnknown: 1, MessagesExpired: 1 },
  ]);

  const again = await countedBy(() => dispatchBatch(batch.slice(1, 3), world.ports({ send })));
  expect(again).toEqual([]);
});

test('a receipt is expected of each message that left on a number of which a platform app tells (D38)', async () => {
  const world = new DispatchWorld();
  const told = { receiptsExpected: true } as const;
  const batch = [0, 1, 2, 3].map((index) => deliveryOf(dispatchMessage(index, told), `m-${index}`));
  // Of a number without an app.
  batch.push(deliveryOf(dispatchMessage(4), 'm-4'));
  const send = async ({ index }: DispatchMessage): Promise<Handover> => {
    if (index === 2) throw new PlatformFailure('refused', { code: 131026 });
    return { platformMessageId: 'p', ...(index === 3 ? { messageStatus: 'paused' } : {}) };
  };
  const [line] = await countedBy(() => dispatchBatch(batch, world.ports({ send })));
  expect(line).toMatchObject({ MessagesSent: 3, MessagesHeld: 1, MessagesFailed: 1, ReceiptsExpected: 2 });
});

test('what the batch record does not vouch for is not counted as sent', async () => {
  const world = new DispatchWorld();
  const claims = { ...world.claims, recordBatch: () => Promise.reject(new Error('no connection')) };
  const batch = [deliveryOf(dispatchMessage(0, { receiptsExpected: true }))];
  expect(await countedBy(() => dispatchBatch(batch, world.ports({ claims })))).toEqual([]);
  expect(world.posted).toHaveLength(1);
});

test('each message of a batch is told and logged under the id of its own request', async () => {
  const world = new DispatchWorld();
  const batch = ['one', 'two', undefined].map((correlationId, index) =>
    deliveryOf(dispatchMessage(index, { correlationId }), `message-${index}`),
  );
  const under: (string | undefined)[] = [];
  await dispatchBatch(
    batch,
    world.ports({ send: failingWith('ambiguous'), log: () => void under.push(correlationId()) }),
  );
  expect(under.sort()).toEqual(['one', 'two', undefined]);
  expect(world.events.sent.map((event) => event.correlationId)).toEqual(['one', 'two', undefined]);
});

test.each(['held_for_quality_assessment', 'paused'])(
  'a message that the platform holds (%s) is recorded and told so, under one id, and never sent again (D39, D41)',
  async (messageStatus) => {
    const world = new DispatchWorld();
    const send = async (message: DispatchMessage): Promise<Handover> => {
      world.posted.push(message);
      return { platformMessageId: 'platform-0', messageStatus };
    };
    const delivery = deliveryOf(dispatchMessage(0));
    const [line] = await countedBy(async () => {
      expect(await dispatchBatch([delivery], world.ports({ send }))).toEqual([]);
    });
    expect(line).toMatchObject({ MessagesHeld: 1 });
    expect(line).not.toHaveProperty('MessagesSent');
    expect(world.store.batches['run-1']).toEqual({ 'J-0': { platformMessageId: 'platform-0', held: messageStatus } });
    expect(world.tallied()).toEqual([{ [`held_${messageStatus}`]: 1 }]);
    world.nowMs += claimLifeMs;
    expect(await dispatchBatch([delivery], world.ports({ send }))).toEqual([]);
    expect(world.posted).toHaveLength(1);
    expect(world.events.sent).toMatchObject(
      Array(2).fill({
        type: 'message.held',
        id: world.events.sent[0]?.id,
        data: { message_id: 'J-0', code: messageStatus, platform_message_id: 'platform-0' },
      }),
    );
  },
);

test('while no batch record says that a message is held, it is not told so; what ended otherwise beside it is', async () => {
  const world = new DispatchWorld();
  const recordBatch = async () => {
    throw new Error('the table takes nothing');
  };
  const send = async ({ index }: DispatchMessage) => {
    if (index === 1) throw new PlatformFailure('refused', { code: 131026 });
    return { platformMessageId: 'platform-0', messageStatus: 'paused' };
  };
  const ports = world.ports({ send, claims: { ...world.claims, recordBatch } });
  const batch = [deliveryOf(dispatchMessage(0), 'held'), deliveryOf(dispatchMessage(1), 'refused')];
  expect(await dispatchBatch(batch, ports)).toEqual(['held']);
  expect(world.events.sent.map(({ type }) => type)).toEqual(['message.failed']);
});

describe('a message that a receipt proves taken (D39)', () => {
  const receipt = { jobId: 'J', index: 0, status: 'delivered', atMs: 1, platformMessageId: 'w' };

  function provenWorld(): DispatchWorld {
    const world = new DispatchWorld();
    world.store = { ...world.store, receipts: { 'J-0': [receipt] } };
    return world;
  }

  test.each([
    ['an answer that is lost', failingWith('ambiguous')],
    ['a refusal as one too many', failingWith('refused', { code: 130429 })],
  ])('is sent, whatever is answered: %s', async (_, send) => {
    const world = provenWorld();
    expect(await dispatchBatch([deliveryOf(dispatchMessage(0))], world.ports({ send }))).toEqual([]);
    expect(world.store.claims['J-0']).toMatchObject({ state: 'sent', code: 'receipt' });
    expect(world.store.doubtful).toEqual({ J: true });
    expect(world.copies).toEqual([]);
    expect(world.events.sent).toEqual([]);
  });

  test('is not told as unknown any more', async () => {
    const world = new DispatchWorld();
    const send = failingWith('ambiguous');
    await dispatchBatch([deliveryOf(dispatchMessage(0))], world.ports({ send }));
    expect(world.events.sent).toHaveLength(1);
    world.store = { ...world.store, receipts: { 'J-0': [receipt] } };
    expect(await dispatchBatch([deliveryOf(dispatchMessage(0))], world.ports({ send }))).toEqual([]);
    expect(world.events.sent).toHaveLength(1);
  });

  test.each(['mark', 'hasReceipt'] as const)('is asked for again when %s fails after a refusal', async (broken) => {
    const world = new DispatchWorld();
    let failures = 2;
    const failing = async (...args: [never]) => {
      failures -= 1;
      if (failures >= 0) throw new Error('the table is away for a moment');
      return (await world.doubts[broken](...args)) as never;
    };
    const pauses: number[] = [];
    const ports = world.ports({
      send: failingWith('refused', { code: 130429 }),
      doubts: { ...world.doubts, [broken]: failing },
      pause: async (ms) => void pauses.push(ms),
    });
    expect(await dispatchBatch([deliveryOf(dispatchMessage(0))], ports)).toEqual([]);
    expect(world.store.claims).toEqual({});
    expect(world.copies).toHaveLength(1);
    expect(pauses).toEqual([500, 1_000]);
  });

  test('is not asked for again without the time for it', async () => {
    const world = new DispatchWorld();
    let asked = 0;
    const hasReceipt = async () => {
      asked += 1;
      throw new Error('the table cannot be read');
    };
    let remainingMs = 60_000;
    const send = async () => {
      remainingMs = 4_000;
      throw new PlatformFailure('refused', { code: 130429 });
    };
    const ports = world.ports({ send, remainingMs: () => remainingMs, doubts: { ...world.doubts, hasReceipt } });
    expect(await dispatchBatch([deliveryOf(dispatchMessage(0))], ports)).toEqual(['message-0']);
    expect(asked).toBe(1);
  });

  test('keeps its claim when nobody can say whether it is proven', async () => {
    const world = new DispatchWorld();
    const hasReceipt = async () => {
      throw new Error('the table cannot be read');
    };
    const ports = world.ports({ send: failingWith('not_sent'), doubts: { ...world.doubts, hasReceipt } });
    expect(await dispatchBatch([deliveryOf(dispatchMessage(0))], ports)).toEqual(['message-0']);
    expect(world.logged).toContainEqual({ event: 'dispatch.error', facts: { error: 'Error' } });
    expect(world.store.claims['J-0']).toMatchObject({ state: 'claimed' });
    expect(world.copies).toEqual([]);
  });
});

test('a status that nobody knows is a message that was taken: sent, and logged (D39)', async () => {
  const world = new DispatchWorld();
  const send = async () => ({ platformMessageId: 'platform-0', messageStatus: 'teleported' });
  expect(await dispatchBatch([deliveryOf(dispatchMessage(0))], world.ports({ send }))).toEqual([]);
  expect(world.store.batches['run-1']).toEqual({ 'J-0': { platformMessageId: 'platform-0' } });
  const facts = { dispatchId: 'J-0', code: 'teleported' };
  expect(world.logged).toContainEqual({ event: 'dispatch.status_unknown', facts });
  expect(world.tallied()).toEqual([{ sent: 1 }]);
});

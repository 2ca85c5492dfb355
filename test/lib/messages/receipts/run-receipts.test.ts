import { describe, expect, test } from 'vitest';
import { claimed, ended, type Outcome, type Slice } from '../../../../lib/messages/dispatch/claims/slice.ts';
import { jobMemorySeconds } from '../../../../lib/messages/items.ts';
import type { JobHead } from '../../../../lib/messages/job.ts';
import type { Receipt, ReceiptMessage } from '../../../../lib/messages/receipts/receipt.ts';
import type { ReceiptPorts } from '../../../../lib/messages/receipts/receipt-ports.ts';
import { runReceipts } from '../../../../lib/messages/receipts/run-receipts.ts';
import { type EventType, eventTypes, type ServiceEvent } from '../../../../lib/webhooks/event.ts';
import { countedBy } from '../../../support/counted.ts';
import { ReceiptWorld } from '../../../support/receipt-world.ts';
import { scenarioHead as head, startMs } from '../../../support/scenario-job.ts';

type Fact = Partial<Receipt> & { readonly status: string };

function queued(
  receipts: readonly Fact[],
  { messageId = 'message-0', ...number }: { messageId?: string; wabaId?: string; phoneNumberId?: string } = {},
) {
  const whole = receipts.map((fact): Receipt => {
    const { jobId } = head;
    return { jobId, index: 0, atMs: startMs + 5_000, platformMessageId: 'wamid.1', ...fact };
  });
  const { wabaId, phoneNumberId } = head;
  const body: ReceiptMessage = { version: 1, numbers: [{ wabaId, phoneNumberId, ...number, receipts: whole }] };
  return { messageId, body: JSON.stringify(body) };
}

/** A day after the scenario's job. */
function world(): ReceiptWorld {
  const made = new ReceiptWorld();
  made.nowMs = startMs + 86_400_000;
  return made;
}

const everything = async () => new Set(eventTypes as EventType[]);

const unknown: Outcome = { state: 'unknown', code: 'no_answer', reason: 'nobody answered' };
const proven = { state: 'sent', code: 'receipt' } as const;

/** A slice of the job with these outcomes, from its first place on. */
function sliceOf(outcomes: readonly Slice['outcomes'][number][], changes: Partial<Slice> = {}): Slice {
  const claim = { key: { jobId: 'J', slice: 0 }, try: 0, owner: 'run-1', atMs: startMs, size: outcomes.length };
  return { ...ended(claimed(undefined, claim), new Map()), outcomes, ...changes };
}

describe('what counts', () => {
  test('a receipt is appended; without doubt no slice is read, and nothing is told that nobody asked for', async () => {
    const at = world();
    const batch = [queued([{ status: 'sent' }, { status: 'delivered' }])];
    let failed: string[] | undefined;
    const counted = await countedBy(async () => {
      failed = await runReceipts(batch, at.ports([head]));
    });
    expect(failed).toEqual([]);
    expect(counted).toMatchObject([{ ReceiptsRecorded: 2 }]);
    expect(at.logged).toEqual([{ event: 'receipts.recorded', facts: { count: 2 } }]);
    expect(at.table.receipts['J-0']?.map(({ status }) => status)).toEqual(['sent', 'delivered']);
    expect(at.calls).toEqual(['append', 'doubtfulJobs']);
    expect(at.events.sent).toEqual([]);
  });

  test('a status that does not exist yet is kept as told', async () => {
    const at = world();
    await runReceipts([queued([{ status: 'seen_twice' }])], at.ports([head], { wanted: everything }));
    expect(at.table.receipts['J-0']).toMatchObject([{ status: 'seen_twice' }]);
    expect(at.events.sent).toEqual([]);
  });

  const memoryMs = jobMemorySeconds * 1_000;
  test.each<[string, string, Fact, { wabaId?: string; phoneNumberId?: string }, number]>([
    ['of a job that nobody knows', 'unknown_job', { status: 'read', jobId: 'K' }, {}, 0],
    ['after the memory of its job', 'job_forgotten', { status: 'read' }, {}, memoryMs],
    ['of another number', 'other_number', { status: 'read' }, { phoneNumberId: '1' }, 0],
    ['of another WABA', 'other_number', { status: 'read' }, { wabaId: '1' }, 0],
    ['of a recipient behind the last', 'no_such_recipient', { status: 'read', index: 1_000 }, {}, 0],
    ['of half a recipient', 'no_such_recipient', { status: 'read', index: 0.5 }, {}, 0],
    ['of a recipient before the first', 'no_such_recipient', { status: 'read', index: -1 }, {}, 0],
  ])('one %s is dropped as %s and recreates nothing', async (_, code, fact, number, ageMs) => {
    const at = world();
    at.nowMs = startMs + ageMs;
    at.table.doubtful.add('J');
    const batch = [queued([fact, fact], number)];
    const counted = await countedBy(() => runReceipts(batch, at.ports([head], { wanted: everything })));
    expect(counted).toMatchObject([{ ReceiptsDropped: 2 }]);
    expect(at.logged).toEqual([{ event: 'receipts.dropped', facts: { code, count: 2 } }]);
    expect(at.calls).toEqual([]);
    expect(at.events.sent).toEqual([]);
  });

  test('the last moment of the memory and the last recipient count', async () => {
    const at = world();
    at.nowMs = startMs + memoryMs - 1;
    await runReceipts([queued([{ status: 'read', index: 999 }])], at.ports([head]));
    expect(Object.keys(at.table.receipts)).toEqual(['J-999']);
  });

  test('receipts of many queue messages are appended together, by job', async () => {
    const at = world();
    const other: JobHead = { ...head, jobId: 'K' };
    const batch = [
      queued([{ status: 'sent' }], { messageId: 'a' }),
      queued([{ status: 'sent', jobId: 'K' }, { status: 'read' }], { messageId: 'b' }),
    ];
    expect(await runReceipts(batch, at.ports([head, other]))).toEqual([]);
    expect(at.calls).toEqual(['append', 'append', 'doubtfulJobs']);
    expect(Object.keys(at.table.receipts).sort()).toEqual(['J-0', 'K-0']);
  });
});

describe('what comes again', () => {
  test.each(['{', '{"version":2,"numbers":[]}', '{"version":1}', 'null'])('%s alone (R18)', async (body) => {
    const at = world();
    const batch = [queued([{ status: 'read' }], { messageId: 'good' }), { messageId: 'bad', body }];
    expect(await runReceipts(batch, at.ports([head]))).toEqual(['bad']);
    expect(Object.keys(at.table.receipts)).toEqual(['J-0']);
    expect(at.logged.map(({ event, facts }) => [event, Object.keys(facts)])).toEqual([
      ['receipts.unreadable', ['error']],
      ['receipts.recorded', ['count']],
    ]);
  });

  test('a message about a job that this version cannot read, alone; its other receipts count', async () => {
    const at = world();
    const ports = at.ports([head]);
    const findHeads = async () =>
      new Map<string, JobHead | 'unreadable'>([
        ['J', head],
        ['K', 'unreadable'],
      ]);
    const batch = [
      queued([{ status: 'read' }], { messageId: 'good' }),
      queued(
        [
          { status: 'read', index: 1 },
          { status: 'read', jobId: 'K' },
        ],
        { messageId: 'later' },
      ),
    ];
    expect(await runReceipts(batch, { ...ports, records: { ...ports.records, findHeads } })).toEqual(['later']);
    expect(Object.keys(at.table.receipts)).toEqual(['J-0', 'J-1']);
    expect(at.logged).toEqual([
      { event: 'receipts.job_unreadable', facts: { jobId: 'K' } },
      { event: 'receipts.recorded', facts: { count: 2 } },
    ]);
  });

  test('all of it when the event queue takes nothing; told once more, it is the same event', async () => {
    const at = world();
    at.table.doubtful.add('J');
    at.table.put(sliceOf([unknown]));
    at.events.broken = true;
    const batch = [queued([{ status: 'failed', code: '131026' }])];
    expect(await runReceipts(batch, at.ports([head]))).toEqual(['message-0']);
    expect(at.table.find({ jobId: 'J', slice: 0 })?.outcomes).toEqual([{ ...proven, resolvedAtMs: at.nowMs }]);
    at.events.broken = false;
    at.nowMs += 60_000;
    expect(await runReceipts(batch, at.ports([head]))).toEqual([]);
    expect(await runReceipts(batch, at.ports([head]))).toEqual([]);
    const told = at.events.sent.map(({ id, type, timestampMs }) => `${type} ${id} ${timestampMs}`);
    expect(told).toHaveLength(4);
    expect(new Set(told).size).toBe(2);
    expect(at.events.sent.map(({ type }) => type).slice(0, 2)).toEqual(['message.resolved', 'message.failed']);
  });
});

describe('what fails with others', () => {
  const other: JobHead = { ...head, jobId: 'K', clientId: 1002 };
  const batch = [
    queued([{ status: 'read' }], { messageId: 'first' }),
    queued([{ status: 'read', jobId: 'K' }], { messageId: 'broken' }),
    queued([{ status: 'read', index: 1 }], { messageId: 'last' }),
    { messageId: 'unreadable', body: '{' },
  ];

  function brokenForOne(at: ReceiptWorld, changes: Partial<ReceiptPorts> = {}): ReceiptPorts {
    const wanted = async (clientId: number) => {
      if (clientId === other.clientId) throw new TypeError('nobody can read this configuration');
      return await everything();
    };
    return at.ports([head, other], { wanted, ...changes });
  }

  test('is recorded alone, and only what fails alone comes again', async () => {
    const at = world();
    expect(await runReceipts(batch, brokenForOne(at))).toEqual(['unreadable', 'broken']);
    expect(at.events.sent.map(({ data }) => 'message_id' in data && data.message_id)).toEqual(['J-0', 'J-1']);
    expect(at.table.receipts['J-0']).toHaveLength(1);
    const failures = at.logged.filter(({ event }) => event === 'receipts.failed').map(({ facts }) => facts);
    expect(failures).toEqual([3, 1].map((count) => ({ count, error: 'TypeError' })));
  });

  test('comes again untried when time is short', async () => {
    const at = world();
    const remainingMs = () => (at.events.sent.length === 0 ? 20_000 : 19_999);
    expect(await runReceipts(batch, brokenForOne(at, { remainingMs }))).toEqual(['unreadable', 'broken', 'last']);
    expect(at.calls.filter((name) => name === 'append')).toHaveLength(3);
  });

  test('one message alone is not tried twice', async () => {
    const at = world();
    expect(await runReceipts(batch.slice(1, 2), brokenForOne(at))).toEqual(['broken']);
    expect(at.calls.filter((name) => name === 'append')).toHaveLength(1);
  });
});

describe('events that could not all be queued', () => {
  const heads = [
    { ...head, total: 1_050 },
    { ...head, jobId: 'K', total: 1_050 },
  ];
  const batch = [0, 1, 2].map((part) =>
    queued(
      Array.from({ length: 350 }, (_, index) =>
        heads.map(({ jobId }) => ({ status: 'read', jobId, index: part * 350 + index })),
      ).flat(),
      { messageId: `part-${part}` },
    ),
  );

  test.each([
    ['time runs short', false],
    ['the event queue stops taking them', true],
  ])('when %s, what was told is acknowledged and the rest comes again', async (_, breaks) => {
    const at = world();
    const calls: number[] = [];
    const send = async (events: readonly ServiceEvent[]) => {
      if (breaks && calls.length === 1) throw new Error('the event queue takes nothing');
      calls.push(events.length);
    };
    const changes = {
      wanted: everything,
      events: { send },
      remainingMs: () => (!breaks && calls.length === 1 ? 9_999 : 10_000),
    };
    const ports = at.ports(heads, changes);
    expect(await runReceipts(batch, ports)).toEqual(['part-1', 'part-2']);
    expect(calls).toEqual([1_000]);
    expect(Object.keys(at.table.receipts)).toHaveLength(2_100);
    const error = breaks ? 'Error' : 'time is short';
    expect(at.logged).toContainEqual({ event: 'receipts.events_left', facts: { count: 1_100, error } });
  });
});

describe('in doubt', () => {
  async function settled(...slices: readonly Slice[]) {
    const at = world();
    at.table.doubtful.add('J');
    at.addresses.set('J-0', '549');
    at.table.put(...slices);
    const batch = [queued([{ status: 'delivered' }, { status: 'delivered', index: 1 }])];
    expect(await runReceipts(batch, at.ports([head]))).toEqual([]);
    return { at, outcomes: at.table.find({ jobId: 'J', slice: 0 })?.outcomes, told: at.events.sent };
  }

  test('unknown is settled and told as resolved, with the recipient; those of one slice by one write', async () => {
    const { at, outcomes, told } = await settled(sliceOf([unknown, unknown, unknown]));
    const resolved = { ...proven, resolvedAtMs: at.nowMs };
    expect(outcomes).toEqual([resolved, resolved, unknown]);
    expect(at.calls).toEqual(['append', 'doubtfulJobs', 'findSlices', 'endSlice', 'addressesOf']);
    expect(told).toMatchObject([
      {
        type: 'message.resolved',
        clientId: 1001,
        timestampMs: at.nowMs,
        data: { message_id: 'J-0', to: '549', platform_message_id: 'wamid.1' },
      },
      { type: 'message.resolved', data: { message_id: 'J-1' } },
    ]);
  });

  const again: Outcome = { state: 'again', dueMs: startMs };
  const refused: Outcome = { state: 'failed', code: '131026' };
  test.each<[string, readonly Slice[]]>([
    ['what nobody has claimed', []],
    ['what is claimed: its claimant looks for receipts', [sliceOf([undefined, undefined], { state: 'claimed' })]],
    ['what is tried again: the next try looks for receipts', [sliceOf([again, again])]],
    ['a refusal, or what was sent', [sliceOf([refused, { state: 'sent', platformMessageId: 'wamid.1' }])]],
    [
      'the word of an operator, or what a receipt proved before it could be unknown',
      [sliceOf([{ state: 'sent', code: 'resolved_by_operator', resolvedAtMs: 1 }, proven])],
    ],
    ['what an operator has settled otherwise', [sliceOf([{ ...refused, resolvedAtMs: 1 }, refused])]],
  ])('no receipt settles %s, and nothing is told', async (_, slices) => {
    const { at, outcomes, told } = await settled(...slices);
    expect([outcomes, told]).toEqual([slices[0]?.outcomes, []]);
    expect(at.calls).toEqual(['append', 'doubtfulJobs', 'findSlices']);
  });

  test('of a job without doubt nothing is read', async () => {
    const at = world();
    at.table.put(sliceOf([unknown]), sliceOf([unknown], { key: { jobId: 'K', slice: 0 } }));
    at.table.doubtful.add('K');
    const batch = [queued([{ status: 'read' }, { status: 'read', jobId: 'K' }])];
    await runReceipts(batch, at.ports([head, { ...head, jobId: 'K' }]));
    expect(at.table.find({ jobId: 'J', slice: 0 })?.outcomes).toEqual([unknown]);
    expect(at.table.find({ jobId: 'K', slice: 0 })?.outcomes).toMatchObject([proven]);
  });
});

describe('what is told', () => {
  async function told(batches: readonly (readonly Fact[])[], wanted = everything) {
    const at = world();
    at.addresses.set('J-0', '549');
    for (const facts of batches) await runReceipts([queued(facts)], at.ports([head], { wanted }));
    return at.events.sent;
  }

  test('each step that the client wants, with price, time and recipient', async () => {
    const pricing = { billable: true, category: 'utility' };
    const events = await told([[{ status: 'sent', pricing }, { status: 'delivered' }, { status: 'played' }]]);
    expect(events.map(({ type }) => type)).toEqual(['message.sent', 'message.delivered', 'message.read']);
    expect(events[0]).toMatchObject({
      clientId: 1001,
      timestampMs: startMs + 5_000,
      data: { job_id: 'J', message_id: 'J-0', to: '549', platform_message_id: 'wamid.1', pricing },
    });
    expect(events[1]?.data).not.toHaveProperty('pricing');
  });

  test.each([
    ['549', {}],
    ['US.1', { wa_id: '1650' }],
  ])('how the platform names the person %s: by user id, and by a number that was not given', async (to, number) => {
    const at = world();
    at.addresses.set('J-0', to);
    const facts = ['sent', 'read'].map((status) => ({ status, userId: 'US.1', waId: '1650' }));
    await runReceipts([queued(facts)], at.ports([head], { wanted: everything }));
    for (const { data } of at.events.sent) {
      expect(data).toMatchObject({ to, user_id: 'US.1', ...number });
      expect('wa_id' in data).toBe('wa_id' in number);
    }
    expect(at.events.sent).toHaveLength(2);
  });

  test('a failure names the person as an earlier receipt has', async () => {
    const at = world();
    await runReceipts([queued([{ status: 'sent', userId: 'US.1' }])], at.ports([head]));
    await runReceipts([queued([{ status: 'failed', code: '131026' }])], at.ports([head]));
    expect(at.events.sent).toMatchObject([{ type: 'message.failed', data: { code: '131026', user_id: 'US.1' } }]);
  });

  test('for whom a message is is asked once, of those that are told of', async () => {
    const at = world();
    const asked: unknown[] = [];
    const addressesOf: ReceiptPorts['addressesOf'] = async (messages) => {
      asked.push(messages);
      return new Map([['J-1', '549']]);
    };
    const wanted = async () => new Set<EventType>(['message.read', 'message.delivered']);
    const facts = [{ status: 'read' }, { status: 'delivered' }, { status: 'sent', index: 2 }].map((fact) => ({
      index: 1,
      ...fact,
    }));
    const batch = [queued(facts), queued([{ status: 'read', jobId: 'K' }], { messageId: 'message-1' })];
    await runReceipts(batch, at.ports([head, { ...head, jobId: 'K' }], { wanted, addressesOf }));
    expect(asked).toEqual([[{ jobId: 'J', index: 1 }, { jobId: 'K', index: 0 }]]); // biome-ignore format: one row
    expect(at.events.sent.map(({ data }) => 'to' in data && data.to)).toEqual(['549', '549', false]);
  });

  test('nothing of what the client does not want is read or queued', async () => {
    const at = world();
    const wanted = async () => new Set<EventType>(['message.read']);
    await runReceipts([queued([{ status: 'delivered' }, { status: 'failed' }])], at.ports([head], { wanted }));
    expect(at.events.sent).toEqual([]);
    expect(at.calls).toEqual(['append', 'doubtfulJobs']);
  });

  test('the same receipt again is the same event, and only one of a run', async () => {
    const events = await told([[{ status: 'read' }, { status: 'read', atMs: startMs + 9_000 }], [{ status: 'read' }]]);
    expect(events.map(({ id }) => id)).toEqual(Array(2).fill(events[0]?.id));
  });

  test('a failure with its code and reason, as the event that the dispatch would tell of it', async () => {
    const [event] = await told([[{ status: 'failed', code: '131049', reason: 'too many' }]]);
    expect(event).toMatchObject({
      type: 'message.failed',
      data: { code: '131049', platform_code: 131_049, reason: 'too many', to: '549' },
    });
  });

  test.each([
    ['before it', [[{ status: 'delivered' }], [{ status: 'failed' }]]],
    ['with it', [[{ status: 'failed' }, { status: 'delivered' }]]],
  ])('no failure of a message whose delivery was told %s', async (_, batches) => {
    expect((await told(batches)).map(({ type }) => type)).toEqual(['message.delivered']);
  });

  test('a time before the job or in the future is put right', async () => {
    const events = await told([
      [
        { status: 'delivered', atMs: 0 },
        { status: 'read', atMs: 9e12 },
      ],
    ]);
    expect(events.map(({ timestampMs }) => timestampMs)).toEqual([startMs, startMs + 86_400_000]);
  });
});

describe('whom the platform refuses marketing to (131050, D55)', () => {
  const offers = { ...head, heedsOptOuts: true } as const;
  const refused = { status: 'failed', code: '131050', atMs: startMs + 7_000 };
  const { wabaId, phoneNumberId, clientId } = head;

  test('is told before anything is acknowledged, one message for a number, by every name, and again alike', async () => {
    const at = world();
    at.addresses.set('J-0', '+5491100000000').set('J-1', 'US.1');
    const batch = [
      queued([refused, { ...refused, index: 1, userId: 'US.1', waId: '15550001' }, { status: 'read', index: 2 }]),
      queued([{ ...refused, index: 3, waId: '15550003', atMs: at.nowMs + 1 }], { messageId: 'message-1' }),
    ];
    const word = { kind: 'refused', clientId, atMs: startMs + 7_000 } as const;
    const told = [
      { ...word, recipients: ['5491100000000'] },
      { ...word, recipients: ['US.1', '15550001'] },
      { ...word, recipients: ['15550003'], atMs: at.nowMs },
    ];
    for (const _ of [1, 2]) expect(await runReceipts(batch, at.ports([offers]))).toEqual([]);
    expect(at.inbound.sent).toEqual([1, 2].map(() => ({ wabaId, phoneNumberId, words: told })));
    const away = { send: () => Promise.reject(new Error('away')) };
    expect(await runReceipts(batch, at.ports([offers], { inbound: away }))).toEqual(['message-0', 'message-1']);
  });

  test.each<[string, JobHead, Fact]>([
    ['of messages that ask for no opt-outs', head, refused],
    ['of another failure', offers, { ...refused, code: '131026' }],
    ['of a message that arrived', offers, { ...refused, status: 'delivered' }],
    ['of a job of which no recipient is known', offers, refused],
  ])('is not told %s', async (what, job, receipt) => {
    const at = world();
    if (!what.includes('no recipient')) at.addresses.set('J-0', '5491100000000');
    await runReceipts([queued([receipt])], at.ports([job]));
    expect(at.inbound.sent.flatMap(({ words }) => words)).toEqual([]);
  });
});

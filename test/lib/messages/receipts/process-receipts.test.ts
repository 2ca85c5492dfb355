import { describe, expect, test } from 'vitest';
import type { DispatchHead } from '../../../../lib/messages/dispatch/head.ts';
import { dispatchMemorySeconds } from '../../../../lib/messages/dispatch/items.ts';
import type { Outcome, Slice } from '../../../../lib/messages/dispatch/slice.ts';
import { processReceipts } from '../../../../lib/messages/receipts/process-receipts.ts';
import type { ReceiptPorts } from '../../../../lib/messages/receipts/receipt-ports.ts';
import { countedBy } from '../../../support/counted.ts';
import type { ReceiptWorld } from '../../../support/receipt-world.ts';
import { scenarioHead as head, startMs } from '../../../support/scenario-dispatch.ts';
import { everything, type Fact, queued, sliceOf, world } from './queued-receipts.ts';

const unknown: Outcome = { state: 'unknown', code: 'no_answer', reason: 'the platform did not answer' };

const proven = { state: 'sent', code: 'receipt' } as const;

describe('what counts', () => {
  test('a receipt is appended; without doubt no slice is read, and no event is sent that no client asked for', async () => {
    const at = world();
    const batch = [queued([{ status: 'sent' }, { status: 'delivered' }])];
    let failed: string[] | undefined;
    const counted = await countedBy(async () => {
      failed = await processReceipts(batch, at.ports([head]));
    });
    expect(failed).toEqual([]);
    expect(counted).toMatchObject([{ ReceiptsRecorded: 2 }]);
    expect(at.logged).toEqual([{ event: 'receipts.recorded', facts: { count: 2 } }]);
    expect(at.table.receipts['J-0']?.map(({ status }) => status)).toEqual(['sent', 'delivered']);
    expect(at.calls).toEqual(['append', 'dispatchesWithUnknown']);
    expect(at.events.sent).toEqual([]);
  });

  test('a status that does not exist yet is kept as told', async () => {
    const at = world();
    await processReceipts([queued([{ status: 'seen_twice' }])], at.ports([head], { wanted: everything }));
    expect(at.table.receipts['J-0']).toMatchObject([{ status: 'seen_twice' }]);
    expect(at.events.sent).toEqual([]);
  });

  const memoryMs = dispatchMemorySeconds * 1_000;
  test.each<[string, string, Fact, { wabaId?: string; phoneNumberId?: string }, number]>([
    ['of an unknown dispatch', 'unknown_dispatch', { status: 'read', dispatchId: 'K' }, {}, 0],
    ['after the memory of its dispatch', 'dispatch_forgotten', { status: 'read' }, {}, memoryMs],
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
    const counted = await countedBy(() => processReceipts(batch, at.ports([head], { wanted: everything })));
    expect(counted).toMatchObject([{ ReceiptsDropped: 2 }]);
    expect(at.logged).toEqual([{ event: 'receipts.dropped', facts: { code, count: 2 } }]);
    expect(at.calls).toEqual([]);
    expect(at.events.sent).toEqual([]);
  });

  test('the last moment of the memory and the last recipient count', async () => {
    const at = world();
    at.nowMs = startMs + memoryMs - 1;
    await processReceipts([queued([{ status: 'read', index: 999 }])], at.ports([head]));
    expect(Object.keys(at.table.receipts)).toEqual(['J-999']);
  });

  test('receipts of many queue messages are appended together, by dispatch', async () => {
    const at = world();
    const other: DispatchHead = { ...head, dispatchId: 'K' };
    const batch = [
      queued([{ status: 'sent' }], { messageId: 'a' }),
      queued([{ status: 'sent', dispatchId: 'K' }, { status: 'read' }], { messageId: 'b' }),
    ];
    expect(await processReceipts(batch, at.ports([head, other]))).toEqual([]);
    expect(at.calls).toEqual(['append', 'append', 'dispatchesWithUnknown']);
    expect(Object.keys(at.table.receipts).sort()).toEqual(['J-0', 'K-0']);
  });
});

describe('what comes again', () => {
  test.each(['{', '{"version":2,"numbers":[]}', '{"version":1}', 'null'])('%s alone (R18)', async (body) => {
    const at = world();
    const batch = [queued([{ status: 'read' }], { messageId: 'good' }), { messageId: 'bad', body }];
    expect(await processReceipts(batch, at.ports([head]))).toEqual(['bad']);
    expect(Object.keys(at.table.receipts)).toEqual(['J-0']);
    expect(at.logged.map(({ event, facts }) => [event, Object.keys(facts)])).toEqual([
      ['receipts.unreadable', ['error']],
      ['receipts.recorded', ['count']],
    ]);
  });

  test('a message about a dispatch that this version cannot read, alone; its other receipts count', async () => {
    const at = world();
    const ports = at.ports([head]);
    const findHeads = async () =>
      new Map<string, DispatchHead | 'unreadable'>([
        ['J', head],
        ['K', 'unreadable'],
      ]);
    const batch = [
      queued([{ status: 'read' }], { messageId: 'good' }),
      queued(
        [
          { status: 'read', index: 1 },
          { status: 'read', dispatchId: 'K' },
        ],
        { messageId: 'later' },
      ),
    ];
    expect(await processReceipts(batch, { ...ports, records: { ...ports.records, findHeads } })).toEqual(['later']);
    expect(Object.keys(at.table.receipts)).toEqual(['J-0', 'J-1']);
    expect(at.logged).toEqual([
      { event: 'receipts.dispatch_unreadable', facts: { dispatchId: 'K' } },
      { event: 'receipts.recorded', facts: { count: 2 } },
    ]);
  });

  test('all of it when the event queue takes nothing; told once more, it is the same event', async () => {
    const at = world();
    at.table.doubtful.add('J');
    at.table.put(sliceOf([unknown]));
    at.events.broken = true;
    const batch = [queued([{ status: 'failed', code: '131026' }])];
    expect(await processReceipts(batch, at.ports([head]))).toEqual(['message-0']);
    at.events.broken = false;
    at.nowMs += 60_000;
    expect(await processReceipts(batch, at.ports([head]))).toEqual([]);
    expect(await processReceipts(batch, at.ports([head]))).toEqual([]);
    const told = at.events.sent.map(({ id, type, timestampMs }) => `${type} ${id} ${timestampMs}`);
    expect(told).toHaveLength(4);
    expect(new Set(told).size).toBe(2);
    expect(at.events.sent.map(({ type }) => type).slice(0, 2)).toEqual(['message.resolved', 'message.failed']);
  });
});

describe('what fails with others', () => {
  const other: DispatchHead = { ...head, dispatchId: 'K', clientId: 1002 };
  const batch = [
    queued([{ status: 'read' }], { messageId: 'first' }),
    queued([{ status: 'read', dispatchId: 'K' }], { messageId: 'broken' }),
    queued([{ status: 'read', index: 1 }], { messageId: 'last' }),
    { messageId: 'unreadable', body: '{' },
  ];

  function brokenForOne(at: ReceiptWorld, changes: Partial<ReceiptPorts> = {}): ReceiptPorts {
    const wanted = async (clientId: number) => {
      if (clientId === other.clientId) throw new TypeError('this configuration cannot be read');
      return await everything();
    };
    return at.ports([head, other], { wanted, ...changes });
  }

  test('is recorded alone, and only what fails alone comes again', async () => {
    const at = world();
    expect(await processReceipts(batch, brokenForOne(at))).toEqual(['unreadable', 'broken']);
    expect(at.events.sent.map(({ data }) => 'message_id' in data && data.message_id)).toEqual(['J-0', 'J-1']);
    expect(at.table.receipts['J-0']).toHaveLength(1);
    const failures = at.logged.filter(({ event }) => event === 'receipts.failed').map(({ facts }) => facts);
    expect(failures).toEqual([3, 1].map((count) => ({ count, error: 'TypeError' })));
  });

  test('comes again untried when time is short', async () => {
    const at = world();
    const remainingMs = () => (at.events.sent.length === 0 ? 20_000 : 19_999);
    expect(await processReceipts(batch, brokenForOne(at, { remainingMs }))).toEqual(['unreadable', 'broken', 'last']);
    expect(at.calls.filter((name) => name === 'append')).toHaveLength(3);
  });

  test('one message alone is not tried twice', async () => {
    const at = world();
    expect(await processReceipts(batch.slice(1, 2), brokenForOne(at))).toEqual(['broken']);
    expect(at.calls.filter((name) => name === 'append')).toHaveLength(1);
  });
});

describe('in doubt', () => {
  async function received(...slices: readonly Slice[]) {
    const at = world();
    at.table.doubtful.add('J');
    at.addresses.set('J-0', '549');
    at.table.put(...slices);
    const batch = [queued([{ status: 'delivered' }, { status: 'delivered', index: 1 }])];
    let failed: string[] | undefined;
    const [metrics] = await countedBy(async () => {
      failed = await processReceipts(batch, at.ports([head]));
    });
    expect(failed).toEqual([]);
    expect(slices.map(({ key }) => at.table.find(key))).toEqual(slices);
    const logged = at.logged.filter(({ event }) => event === 'receipts.resolved').map(({ facts }) => facts);
    return { at, resolvedCount: metrics?.['MessagesResolved'], told: at.events.sent, logged };
  }

  const resolved = (index: number) => ({ type: 'message.resolved', data: { message_id: `J-${index}` } });

  test('unknown is told as resolved, with the recipient, and nothing is written: readers fold receipts', async () => {
    const { at, resolvedCount, told, logged } = await received(sliceOf([unknown, unknown, unknown]));
    expect(at.calls).toEqual(['append', 'dispatchesWithUnknown', 'findSlices', 'addressesOf']);
    expect(told).toMatchObject([resolved(0), resolved(1)]);
    expect(told[0]).toMatchObject({
      clientId: 1001,
      timestampMs: startMs + 5_000,
      data: { to: '549', platform_message_id: 'wamid.1' },
    });
    expect(resolvedCount).toBe(2);
    expect(logged).toEqual([{ messageId: 'J-0' }, { messageId: 'J-1' }]);
  });

  test('unknown is resolved later than it was told, whatever the time of its receipt', async () => {
    const { told } = await received(sliceOf([unknown], { atMs: startMs + 7_000 }));
    expect(told.map(({ timestampMs }) => timestampMs)).toEqual([startMs + 7_001]);
  });

  test('what a late end has made sent is told too: its run may have died before it told', async () => {
    const { told } = await received(
      sliceOf([{ state: 'sent', platformMessageId: 'wamid.1', resolvedAtMs: 1 }, proven]),
    );
    expect(told).toMatchObject([resolved(0)]);
  });

  test('unknown is told while its slice is claimed for others, in whichever of its slices', async () => {
    const at = world();
    at.table.doubtful.add('J');
    const { slices } = at.ports([head]);
    const asked: unknown[] = [];
    const findAll: typeof slices.findAll = async (keys) => {
      asked.push(keys.map(({ slice }) => slice));
      return await slices.findAll(keys);
    };
    at.table.put(
      sliceOf([unknown, undefined], { state: 'claimed' }),
      sliceOf([proven, unknown], { key: { dispatchId: 'J', slice: 2 } }),
    );
    const batch = [queued([21, 0, 21, 30].map((index) => ({ status: 'read', index })))];
    await processReceipts(batch, at.ports([head], { slices: { findAll } }));
    expect(at.events.sent).toMatchObject([resolved(21), resolved(0)]);
    expect(asked).toEqual([[2, 0, 2, 3]]);
  });

  const again: Outcome = { state: 'again', dueMs: startMs };
  const refused: Outcome = { state: 'failed', code: '131026' };
  test.each<[string, readonly Slice[]]>([
    ['what no worker has claimed', []],
    ['what is claimed: its claimant looks for receipts', [sliceOf([undefined, undefined], { state: 'claimed' })]],
    ['what is tried again: the next try looks for receipts', [sliceOf([again, again])]],
    ['a refusal, or what was sent', [sliceOf([refused, { state: 'sent', platformMessageId: 'wamid.1' }])]],
    [
      'the word of an operator, or what a receipt proved before it could be unknown',
      [sliceOf([{ state: 'sent', code: 'resolved_by_operator', resolvedAtMs: 1 }, proven])],
    ],
    ['what an operator has settled otherwise', [sliceOf([{ ...refused, resolvedAtMs: 1 }, refused])]],
  ])('no receipt resolves %s, and nothing is told', async (_, slices) => {
    const { at, resolvedCount, told, logged } = await received(...slices);
    expect([told, logged, resolvedCount]).toEqual([[], [], undefined]);
    expect(at.calls).toEqual(['append', 'dispatchesWithUnknown', 'findSlices']);
  });

  test('of a dispatch without doubt nothing is read', async () => {
    const at = world();
    at.table.put(sliceOf([unknown]), sliceOf([unknown], { key: { dispatchId: 'K', slice: 0 } }));
    at.table.doubtful.add('K');
    const batch = [queued([{ status: 'read' }, { status: 'read', dispatchId: 'K' }])];
    await processReceipts(batch, at.ports([head, { ...head, dispatchId: 'K' }]));
    expect(at.events.sent).toMatchObject([{ type: 'message.resolved', data: { message_id: 'K-0' } }]);
  });
});

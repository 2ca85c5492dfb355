import { describe, expect, test } from 'vitest';
import type { DispatchHead } from '../../../../lib/messages/dispatch/head.ts';
import { processReceipts } from '../../../../lib/messages/receipts/process-receipts.ts';
import type { ReceiptPorts } from '../../../../lib/messages/receipts/receipt-ports.ts';
import type { EventType, ServiceEvent } from '../../../../lib/webhooks/event.ts';
import { scenarioHead as head, startMs } from '../../../support/scenario-dispatch.ts';
import { everything, type Fact, queued, world } from './queued-receipts.ts';

describe('events that could not all be queued', () => {
  const heads = [
    { ...head, total: 1_050 },
    { ...head, dispatchId: 'K', total: 1_050 },
  ];
  const batch = [0, 1, 2].map((part) =>
    queued(
      Array.from({ length: 350 }, (_, index) =>
        heads.map(({ dispatchId }) => ({ status: 'read', dispatchId, index: part * 350 + index })),
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
    expect(await processReceipts(batch, ports)).toEqual(['part-1', 'part-2']);
    expect(calls).toEqual([1_000]);
    expect(Object.keys(at.table.receipts)).toHaveLength(2_100);
    const error = breaks ? 'Error' : 'time is short';
    expect(at.logged).toContainEqual({ event: 'receipts.events_left', facts: { count: 1_100, error } });
  });
});

describe('what is told', () => {
  async function told(batches: readonly (readonly Fact[])[], wanted = everything) {
    const at = world();
    at.addresses.set('J-0', '549');
    for (const facts of batches) await processReceipts([queued(facts)], at.ports([head], { wanted }));
    return at.events.sent;
  }

  test('each step that the client wants, with price, time and recipient', async () => {
    const pricing = { billable: true, category: 'utility' };
    const events = await told([[{ status: 'sent', pricing }, { status: 'delivered' }, { status: 'played' }]]);
    expect(events.map(({ type }) => type)).toEqual(['message.sent', 'message.delivered', 'message.read']);
    expect(events[0]).toMatchObject({
      clientId: 1001,
      timestampMs: startMs + 5_000,
      data: { dispatch_id: 'J', message_id: 'J-0', to: '549', platform_message_id: 'wamid.1', pricing },
    });
    expect(events[1]?.data).not.toMatchObject({ pricing: expect.anything() });
  });

  test.each([
    ['549', {}],
    ['US.1', { wa_id: '1650' }],
  ])('how the platform names the person %s: by user id, and by a number that was not given', async (to, number) => {
    const at = world();
    at.addresses.set('J-0', to);
    const facts = ['sent', 'read'].map((status) => ({ status, userId: 'US.1', waId: '1650' }));
    await processReceipts([queued(facts)], at.ports([head], { wanted: everything }));
    for (const { data } of at.events.sent) {
      expect(data).toMatchObject({ to, user_id: 'US.1', ...number });
      expect('wa_id' in data && data.wa_id !== undefined).toBe('wa_id' in number);
    }
    expect(at.events.sent).toHaveLength(2);
  });

  test('a failure names the person as an earlier receipt has', async () => {
    const at = world();
    await processReceipts([queued([{ status: 'sent', userId: 'US.1' }])], at.ports([head]));
    await processReceipts([queued([{ status: 'failed', code: '131026' }])], at.ports([head]));
    expect(at.events.sent).toMatchObject([{ type: 'message.failed', data: { code: '131026', user_id: 'US.1' } }]);
  });

  test('the recipient of a message is read once, for messages with events only', async () => {
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
    const batch = [queued(facts), queued([{ status: 'read', dispatchId: 'K' }], { messageId: 'message-1' })];
    await processReceipts(batch, at.ports([head, { ...head, dispatchId: 'K' }], { wanted, addressesOf }));
    expect(asked).toEqual([[{ dispatchId: 'J', index: 1 }, { dispatchId: 'K', index: 0 }]]); // biome-ignore format: one row
    expect(at.events.sent.map(({ data }) => 'to' in data && data.to)).toEqual(['549', '549', undefined]);
  });

  test('nothing of what the client does not want is read or queued', async () => {
    const at = world();
    const wanted = async () => new Set<EventType>(['message.read']);
    await processReceipts([queued([{ status: 'delivered' }, { status: 'failed' }])], at.ports([head], { wanted }));
    expect(at.events.sent).toEqual([]);
    expect(at.calls).toEqual(['append', 'dispatchesWithUnknown']);
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

  test('a time before the dispatch or in the future is put right', async () => {
    const events = await told([
      [
        { status: 'delivered', atMs: 0 },
        { status: 'read', atMs: 9e12 },
      ],
    ]);
    expect(events.map(({ timestampMs }) => timestampMs)).toEqual([startMs, startMs + 86_400_000]);
  });
});

describe('a person to whom the platform refuses marketing (131050, D55)', () => {
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
    for (const _ of [1, 2]) expect(await processReceipts(batch, at.ports([offers]))).toEqual([]);
    expect(at.inbound.sent).toEqual([1, 2].map(() => ({ wabaId, phoneNumberId, words: told })));
    const away = { send: () => Promise.reject(new Error('away')) };
    expect(await processReceipts(batch, at.ports([offers], { inbound: away }))).toEqual(['message-0', 'message-1']);
  });

  test.each<[string, DispatchHead, Fact]>([
    ['of messages that ask for no opt-outs', head, refused],
    ['of another failure', offers, { ...refused, code: '131026' }],
    ['of a message that arrived', offers, { ...refused, status: 'delivered' }],
    ['of a dispatch of which no recipient is known', offers, refused],
  ])('is not told %s', async (what, dispatch, receipt) => {
    const at = world();
    if (!what.includes('no recipient')) at.addresses.set('J-0', '5491100000000');
    await processReceipts([queued([receipt])], at.ports([dispatch]));
    expect(at.inbound.sent.flatMap(({ words }) => words)).toEqual([]);
  });
});

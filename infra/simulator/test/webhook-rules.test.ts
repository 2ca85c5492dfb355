import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { countOfNextBatch, envelopeOf, escapedJson, signatureOf } from '../src/webhooks/envelope.ts';
import { Outbox, pauseAfterMs } from '../src/webhooks/outbox.ts';
import { ReceiptRules } from '../src/webhooks/receipt-rules.ts';
import { type Course, receiptsOf, usualCourse } from '../src/webhooks/receipts.ts';
import type { Update } from '../src/webhooks/update.ts';
import { updatesIn } from './support/callback-receiver.ts';

const metadata = (id: string) => ({ display_phone_number: `1${id}`, phone_number_id: id });
const node = (value: unknown, wabaId = '1'): Update => ({ kind: 'node', wabaId, field: 'account_update', value });
const status = (id: string, number = '300', wabaId = '1'): Update => ({
  kind: 'status',
  wabaId,
  metadata: metadata(number),
  status: { id },
});

describe('signature', () => {
  test('the known answer of RFC 4231, test case 2', () => {
    expect(signatureOf(Buffer.from('what do ya want for nothing?'), 'Jefe')).toBe(
      'sha256=5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843',
    );
  });

  test('the older one: the known answer of RFC 2202, test case 2', () => {
    expect(signatureOf(Buffer.from('what do ya want for nothing?'), 'Jefe', 'sha1')).toBe(
      'sha1=effcdf6ae5eb2fa2d27416d5f184df9c259a7c79',
    );
  });

  test('text outside of ASCII is escaped, in lower case, astral characters as two', () => {
    expect(escapedJson({ text: 'São 😀 \u2028 /"' })).toBe('{"text":"S\\u00e3o \\ud83d\\ude00 \\u2028 /\\""}');
  });

  test('escaping loses nothing and leaves nothing but ASCII', () => {
    fc.assert(
      fc.property(
        fc.array(fc.string({ unit: fc.nat({ max: 0x2ff }).map((code) => String.fromCharCode(code)) })),
        (value) => {
          const written = escapedJson(value);
          expect(JSON.parse(written)).toEqual(value);
          expect([...written].every((character) => character.charCodeAt(0) < 0x80)).toBe(true);
        },
      ),
    );
  });
});

describe('envelope', () => {
  test('an entry for each WABA, a change for each update; news in entries of their own, with a time', () => {
    const updates = [status('a'), status('b', '301'), node({ event: 'X' }), status('c'), status('d', '300', '2')];
    const change = (id: string, number = '300') => ({
      field: 'messages',
      value: { messaging_product: 'whatsapp', metadata: metadata(number), statuses: [{ id }] },
    });
    expect(envelopeOf(updates, 1_792_540_800_999)).toEqual({
      object: 'whatsapp_business_account',
      entry: [
        { id: '1', changes: [change('a'), change('b', '301'), change('c')] },
        { id: '1', time: 1_792_540_800, changes: [{ field: 'account_update', value: { event: 'X' } }] },
        { id: '2', changes: [change('d')] },
      ],
    });
  });

  test('1,000 updates at most', () => {
    const many = Array.from({ length: 1_500 }, (_, index) => status(String(index)));
    expect([countOfNextBatch(many), countOfNextBatch(many.slice(1_000)), countOfNextBatch([])]).toEqual([
      1_000, 500, 0,
    ]);
  });

  test('3 MB at most', () => {
    const large = Array.from({ length: 4 }, (_, index) => node('x'.repeat(999_000), String(index)));
    expect([countOfNextBatch(large), countOfNextBatch([node('x'.repeat(4_000_000)), ...large])]).toEqual([3, 1]);
  });

  test('limits hold for what is written, escaped, however it is mixed; what is too large goes alone', () => {
    const limits = { updates: 6, bytes: 6_000 };
    fc.assert(
      fc.property(fc.array(fc.nat({ max: 1_500 }), { maxLength: 30 }), fc.constantFrom('x', 'ã'), (lengths, letter) => {
        let rest: readonly Update[] = lengths.map((length, index) => node(letter.repeat(length), String(index)));
        while (rest.length > 0) {
          const count = countOfNextBatch(rest, limits);
          const written = (most: number) => escapedJson(envelopeOf(rest.slice(0, most), 0)).length;
          expect(count).toBeGreaterThan(0);
          expect(count).toBeLessThanOrEqual(limits.updates);
          if (count > 1) expect(written(count)).toBeLessThanOrEqual(limits.bytes);
          // Few more updates would have fitted.
          const full = count === limits.updates || count === rest.length;
          if (!full) expect(written(count + 1) + 250 * (count + 1)).toBeGreaterThan(limits.bytes);
          rest = rest.slice(count);
        }
      }),
    );
  });
});

describe('outbox', () => {
  const target = { appId: '5', url: 'http://callback' };
  const key = '5 http://callback';
  const idsOf = (bytes: Buffer | undefined) =>
    bytes === undefined ? [] : updatesIn(bytes).map(({ value }) => value.id);

  test('whatever the delays: each update once, when it is due, in order of time', () => {
    fc.assert(
      fc.property(fc.array(fc.nat({ max: 50 }), { maxLength: 60 }), fc.array(fc.nat({ max: 60 })), (dues, steps) => {
        const outbox = new Outbox(() => [target]);
        dues.forEach((atMs, index) => {
          outbox.add(status(String(index)), atMs);
        });
        const told: { id: number; nowMs: number }[] = [];
        for (const nowMs of [...steps.sort((one, other) => one - other), 60]) {
          outbox.lanesWithWork(nowMs);
          const batch = outbox.take(key, nowMs);
          for (const id of idsOf(batch?.bytes)) told.push({ id: Number(id), nowMs });
        }
        const sorted = dues.map((atMs, id) => ({ atMs, id })).sort((one, other) => one.atMs - other.atMs);
        expect(told.map(({ id }) => id)).toEqual(sorted.map(({ id }) => id));
        const times = [...steps, 60];
        for (const { id, nowMs } of told) expect(nowMs).toBe(times.find((time) => time >= (dues[id] ?? 0)));
        expect([outbox.waiting, outbox.nextMs()]).toEqual([{ planned: 0, due: 0 }, undefined]);
      }),
    );
  });

  test('a failed post is retried with the same bytes and a growing delay; meanwhile others are sent', () => {
    const outbox = new Outbox(() => [target]);
    outbox.add(status('poison'), 0);
    outbox.lanesWithWork(0);
    const first = outbox.take(key, 0);
    if (first === undefined) throw new Error('nothing due');
    expect(outbox.settle(first, false, 0)).toEqual({ failures: 1, before: 0 });
    outbox.add(status('good'), 0);
    outbox.lanesWithWork(0);
    expect([outbox.take(key, 999), outbox.nextMs()]).toEqual([undefined, 1_000]);
    const again = outbox.take(key, 1_000);
    expect(again).toBe(first);
    outbox.settle(first, false, 1_000);
    expect(outbox.take(key, 2_999)).toBeUndefined();
    outbox.settle(outbox.take(key, 3_000) ?? first, false, 3_000);
    const other = outbox.take(key, 7_000);
    expect(other).toBe(first);
    outbox.settle(first, false, 7_000);
    expect(outbox.waiting).toEqual({ planned: 0, due: 2 });
  });

  test('a failure does not hold up what is new for longer than the pause of the address', () => {
    const outbox = new Outbox(() => [target]);
    outbox.add(status('poison'), 0);
    outbox.lanesWithWork(0);
    const poison = outbox.take(key, 0);
    if (poison === undefined) throw new Error('nothing due');
    for (const [nowMs, pause] of [
      [0, 1_000],
      [1_000, 2_000],
    ] as const) {
      outbox.settle(outbox.take(key, nowMs) ?? poison, false, nowMs);
      expect(poison.notBeforeMs).toBe(nowMs + pause);
    }
    outbox.add(status('good'), 3_000);
    outbox.lanesWithWork(3_000);
    outbox.settle(outbox.take(key, 3_000) ?? poison, false, 3_000);
    // The address backs off for 4 s, as long as the batch: then the poison comes first, and the good one right after
    // it.
    expect(outbox.take(key, 7_000)).toBe(poison);
    const good = outbox.take(key, 7_000);
    expect(idsOf(good?.bytes)).toEqual(['good']);
    if (good !== undefined) expect(outbox.settle(good, true, 7_000)).toEqual({ failures: 0, before: 3 });
  });

  test('1, 2, 4 ... seconds, a minute at most; after 7 days no more', () => {
    expect([1, 2, 3, 6, 7, 50].map(pauseAfterMs)).toEqual([1_000, 2_000, 4_000, 32_000, 60_000, 60_000]);
    const outbox = new Outbox(() => [target]);
    outbox.add(status('a'), 0);
    let attempts = 0;
    for (let nowMs = 0; outbox.givenUp === 0; nowMs = outbox.nextMs() ?? nowMs) {
      outbox.lanesWithWork(nowMs);
      const batch = outbox.take(key, nowMs);
      if (batch === undefined) throw new Error('nothing due');
      outbox.settle(batch, false, nowMs);
      attempts += 1;
    }
    expect([attempts, outbox.waiting, outbox.nextMs()]).toEqual([10_085, { planned: 0, due: 0 }, undefined]);
  });

  test('updates without a subscriber are dropped', () => {
    const outbox = new Outbox(() => []);
    outbox.add(status('a'), 0);
    expect([outbox.lanesWithWork(0), outbox.waiting]).toEqual([[], { planned: 0, due: 0 }]);
  });
});

describe('receipts of a message', () => {
  const message = {
    id: 'wamid.A',
    wabaId: '1',
    metadata: metadata('300'),
    recipient: { key: '549', userId: 'AR.1', scopedUser: false },
    pricing: { billable: true, pricing_model: 'PMP', type: 'regular', category: 'utility' } as const,
    callbackData: 'x-1',
    acceptedMs: 1_000_500,
  };
  const { pricing } = message;
  const told = (changes: Partial<Course> = {}) =>
    receiptsOf(message, { ...usualCourse, ...changes }).map(
      ({ update, atMs }): { readonly atMs: number; readonly [name: string]: unknown } => ({
        ...(update.kind === 'status' ? update.status : {}),
        atMs,
      }),
    );
  const named = { id: 'wamid.A', recipient_id: '549', biz_opaque_callback_data: 'x-1' };
  const common = { ...named, recipient_user_id: 'AR.1' };

  test('sent at once, delivered and read later; the price with the first two', () => {
    expect(told()).toEqual([
      { ...common, status: 'sent', timestamp: '1000', pricing, atMs: 1_000_500 },
      { ...common, status: 'delivered', timestamp: '1001', pricing, atMs: 1_001_500 },
      { ...common, status: 'read', timestamp: '1003', atMs: 1_003_500 },
    ]);
  });

  test('delivered skipped: read has the price', () => {
    expect(told({ delivered_after_ms: null })).toEqual([
      expect.objectContaining({ status: 'sent', pricing }),
      expect.objectContaining({ status: 'read', pricing }),
    ]);
  });

  test('failed: nothing else, with the code of the platform and no price', () => {
    expect(told({ fail: 131053, failed_after_ms: 60_000 })).toEqual([
      {
        ...named,
        status: 'failed',
        timestamp: '1060',
        errors: [
          {
            code: 131053,
            title: 'Media upload error',
            message: 'Media upload error',
            error_data: { details: 'Media upload error' },
            href: expect.stringMatching(/^https:/),
          },
        ],
        atMs: 1_060_500,
      },
    ]);
  });

  test.each([
    ['a number', { key: '549', userId: 'AR.1', scopedUser: false }, { wa_id: '549', user_id: 'AR.1' }],
    [
      'a user id whose number is known',
      { key: '549', userId: 'AR.1', scopedUser: true },
      { wa_id: '549', user_id: 'AR.1' },
    ],
    ['a user id alone', { key: 'AR.1', userId: 'AR.1', scopedUser: true }, { user_id: 'AR.1' }],
  ])('sent to %s: who that is, and of a failure only what the sender knew', (_, recipient, contact) => {
    const toThem = { ...message, recipient, callbackData: undefined };
    const number = 'wa_id' in contact ? { recipient_id: '549' } : {};
    const [sent] = receiptsOf(toThem, usualCourse);
    expect(sent?.update).toEqual({
      kind: 'status',
      wabaId: '1',
      metadata: metadata('300'),
      contacts: [contact],
      status: { id: 'wamid.A', status: 'sent', timestamp: '1000', ...number, recipient_user_id: 'AR.1', pricing },
    });
    const [failed] = receiptsOf(toThem, { ...usualCourse, fail: 131026 });
    expect(failed?.update).toEqual({
      kind: 'status',
      wabaId: '1',
      metadata: metadata('300'),
      status: {
        id: 'wamid.A',
        status: 'failed',
        timestamp: '1001',
        ...number,
        ...(recipient.scopedUser ? { recipient_user_id: 'AR.1' } : {}),
        errors: [expect.objectContaining({ code: 131026 })],
      },
    });
  });

  test('held: later; late: told later and dated as before; lost: never', () => {
    expect(told({ held_ms: 600_000 })[0]).toMatchObject({ timestamp: '1600', atMs: 1_600_500 });
    expect(told({ late_ms: 7_200_000 })[0]).toMatchObject({ timestamp: '1000', atMs: 8_200_500 });
    expect(told({ lost: true })).toEqual([]);
  });

  test('any course: true times, each status as often as asked, and another order of the same arrivals', () => {
    const after = fc.option(fc.nat({ max: 100_000 }));
    const courses = fc.record({
      sent_after_ms: after,
      delivered_after_ms: after,
      read_after_ms: after,
      late_ms: fc.nat({ max: 9_000 }),
      copies: fc.integer({ min: 1, max: 4 }),
      order: fc.constantFrom('right', 'reversed', 'shuffled'),
    });
    const key = (entry: ReturnType<typeof told>[number]) => JSON.stringify({ ...entry, atMs: 0 });
    fc.assert(
      fc.property(courses, (course) => {
        const plain = told({ ...course, copies: 1, order: 'right' });
        const all = told(course as Partial<Course>);
        expect(all.map(key).sort()).toEqual(
          plain.flatMap((one) => Array.from({ length: course.copies }, () => key(one))).sort(),
        );
        const times = (list: typeof all) => list.map((one) => one.atMs).sort((one, other) => one - other);
        expect(times(all)).toEqual(times(plain.flatMap((one) => Array.from({ length: course.copies }, () => one))));
      }),
    );
  });

  test('reversed', () => {
    expect(told({ order: 'reversed' }).map((one) => [one['status'], one.atMs])).toEqual([
      ['sent', 1_003_500],
      ['delivered', 1_001_500],
      ['read', 1_000_500],
    ]);
  });
});

describe('rules of receipts', () => {
  test('what the recipient brings, then every rule that matches, the newest last; each so many times', () => {
    const rules = new ReceiptRules();
    rules.add({ match: {}, course: { copies: 2, order: 'reversed' } });
    rules.add({ match: { to: '+549' }, course: { copies: 3 }, times: 1 });
    rules.add({ match: { template: 'other' }, course: { lost: true } });
    const course = (magic = {}) => rules.courseOf({ to: '549', template: 'one' }, magic);
    expect(course({ fail: 131026, copies: 9 })).toEqual({ ...usualCourse, fail: 131026, copies: 3, order: 'reversed' });
    expect(course()).toEqual({ ...usualCourse, copies: 2, order: 'reversed' });
    expect(rules.size).toBe(2);
    rules.clear();
    expect(course()).toEqual(usualCourse);
  });
});

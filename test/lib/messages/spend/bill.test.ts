import { expect, test } from 'vitest';
import { type AcceptedMessage, Bill, deliveryOf, receiptsOf, usualCourse } from '#simulator/contract';
import { type DispatchHead, messageIdOf } from '../../../../lib/messages/dispatch/head.ts';
import { matchReceipts } from '../../../../lib/messages/receipts/match-receipts.ts';
import type { HeadOfDispatch } from '../../../../lib/messages/receipts/receipt-ports.ts';
import { receiptsOf as readReceipts } from '../../../../lib/messages/receipts/receipts-of.ts';
import { countDispatches } from '../../../../lib/messages/spend/count-dispatches.ts';
import { countReceipts } from '../../../../lib/messages/spend/count-receipts.ts';
import { spendGroups } from '../../../../lib/messages/spend/count-step.ts';
import {
  type CountMessage,
  countDelayMs,
  countWhenDue,
  laterCounts,
} from '../../../../lib/messages/spend/later-counts.ts';
import { spendOf } from '../../../../lib/messages/spend/spend.ts';
import { shippedRates } from '../../../../lib/pricing/rates.ts';
import { seededRandom } from '../../../support/faults.ts';
import { makeDispatchHead } from '../../../support/made-dispatches.ts';
import { MemoryLedger } from './memory-ledger.ts';

const acceptedAtMs = Date.parse('2026-11-22T23:59:50Z');
/** The numbers of the second line are priced as others are, or by an area code; the third has user ids (D32). */
const countries = [
  ...['54911', '55119', '5731', '4917', '3361', '9198', '1212', '4479', '7701', '35846', '26096', '3362'],
  ...['38344', '2475', '6721', '6723', '88165', '88213', '80012', '9991', '1242', '1809', '1876', '1787'],
  ...['AR.', 'XK.', 'ZZ.'],
];
const sizes = [
  ...Array.from({ length: 2 }, () => 4_000),
  ...Array.from({ length: 20 }, () => 11),
  ...Array.from({ length: 100 }, () => 10),
  ...Array.from({ length: 1_000 }, () => 1),
];
const categories = ['MARKETING', 'UTILITY', 'AUTHENTICATION'] as const;

/** Erasures come in the first minute, most before a status is told, or days later. */
const erasedAfterMs = [0, 500, 900, 2_000, 20_000, 59_000, 400_000, 86_400_000, 3 * 86_400_000];

interface Erasure {
  readonly atMs: number;
  readonly dispatchId: string;
  readonly indexes: ReadonlySet<number>;
}

interface Update {
  readonly atMs: number;
  readonly value: Readonly<Record<string, unknown>>;
  readonly wabaId: string;
}

/**
 * Makes ten thousand messages on both sides: the platform's bill, every webhook update at its arrival, and erasures.
 */
function world(random: () => number) {
  const ledger = new MemoryLedger();
  const bill = new Bill();
  const updates: Update[] = [];
  const erasures: Erasure[] = [];
  const pick: Pick = (all) => all[Math.floor(random() * all.length)] as (typeof all)[number];
  for (const [at, total] of sizes.entries()) {
    const head = headAt(at, total, pick);
    const to = Array.from({ length: total }, (_, index) => `${pick(countries)}${1_000_000 + at * 10_000 + index}`);
    ledger.add(head, to);
    if (random() < 0.4) {
      const atMs = acceptedAtMs + pick(erasedAfterMs);
      erasures.push({
        atMs,
        dispatchId: head.dispatchId,
        indexes: new Set(to.flatMap((_, at) => (at % 5 < 3 ? [at] : []))),
      });
    }
    for (const [index, key] of to.entries()) {
      const message = messageOf(head, { index, key }, { random, pick });
      const course = courseOf({ random, pick });
      const deliveredMs = deliveryOf(message, course);
      if (deliveredMs !== undefined) bill.delivers(message, deliveredMs);
      for (const { update, atMs } of receiptsOf(message, course)) {
        const value = { metadata: update.metadata, contacts: update.contacts ?? [], statuses: [update.status] };
        updates.push({ atMs: atMs + random() * 30_000, value, wabaId: update.wabaId });
      }
    }
  }
  erasures.sort((one, other) => one.atMs - other.atMs);
  return { ledger, bill, erasures, updates: updates.sort((one, other) => one.atMs - other.atMs) };
}

type Pick = <T>(all: readonly T[]) => T;
interface Chance {
  readonly random: () => number;
  readonly pick: Pick;
}

function headAt(at: number, total: number, pick: Pick): DispatchHead {
  const category = pick(categories);
  const named = { templateName: `${category.toLowerCase()}_${at % 4}`, campaignId: at % 5 === 0 ? undefined : at % 5 };
  const facts = { total, acceptedAtMs, category, receiptsExpected: true, did: pick(['1555', '1556']) } as const;
  return makeDispatchHead({ dispatchId: `01J${String(at).padStart(23, '0')}`, ...facts, ...named });
}

function messageOf(
  { dispatchId, wabaId, phoneNumberId, category }: DispatchHead,
  { index, key }: { readonly index: number; readonly key: string },
  { random, pick }: Chance,
): AcceptedMessage {
  const price =
    random() < 0.05
      ? { billable: false, type: 'free_customer_service' as const }
      : { billable: true, type: 'regular' as const };
  const billedAs =
    random() < 0.1
      ? pick(['marketing_lite', 'utility', 'service', 'authentication-international'])
      : String(category).toLowerCase();
  return {
    ...{ id: `wamid.${dispatchId}.${index}`, wabaId, acceptedMs: acceptedAtMs },
    metadata: { display_phone_number: '1', phone_number_id: phoneNumberId },
    recipient: { key, userId: `AR.${dispatchId}${index}`, scopedUser: false },
    pricing: { ...price, pricing_model: 'PMP', category: billedAs },
    callbackData: messageIdOf({ dispatchId, index }),
  };
}

function courseOf({ random, pick }: Chance) {
  return {
    ...usualCourse,
    ...{ copies: pick([1, 2, 3]), order: pick(['right', 'reversed', 'shuffled'] as const) },
    late_ms: pick([0, 0, 0, 90_000, 7_200_000, 2 * 86_400_000]),
    delivered_after_ms: pick([1_000, 8_000, 60_000, null]),
    ...{ read_after_ms: pick([3_000, null, 20_000_000]), fail: random() < 0.05 ? 131_026 : null },
  };
}

test('what ten thousand messages cost is what the platform bills, to the cent, and so is each market of it, whoever is erased meanwhile (R56, D60)', async () => {
  const random = seededRandom(58);
  const { ledger, bill, updates, erasures } = world(random);
  const queue: { readonly message: CountMessage; readonly atMs: number }[] = [];
  const marks = new Map<string, number>();
  let nowMs = acceptedAtMs;
  let bulkCounts = 0;
  /** Any outside call may fail, before or after its effect; a transaction may meet another one. */
  const maybe = async <T>(call: () => Promise<T>): Promise<T> => {
    if (random() < 0.002) throw new Error('the process died');
    const result = await call();
    if (random() < 0.002) throw new Error('the reply was lost');
    return result;
  };
  const counting = {
    ledger: {
      read: (dispatchId: string) => maybe(() => ledger.read(dispatchId)),
      readMessages: (head: Parameters<MemoryLedger['readMessages']>[0]) => ledger.readMessages(head),
      write: (step: Parameters<MemoryLedger['write']>[0]) =>
        maybe(async () => random() > 0.02 && (await ledger.write(step))),
    },
    rates: async () => [shippedRates] as const,
    nowMs: () => nowMs,
  };
  const count = (dispatchIds: readonly string[]) => countDispatches(dispatchIds, counting);
  const waiting = {
    marks: {
      dueMs: (dispatchId: string) => maybe(async () => marks.get(dispatchId)),
      mark: ({ dispatchId }: { readonly dispatchId: string }, dueMs: number) =>
        maybe(async () => void marks.set(dispatchId, dueMs)),
    },
    queue: {
      sendLater: (message: CountMessage, seconds: number) =>
        maybe(async () => void queue.push({ message, atMs: nowMs + seconds * 1_000 })),
    },
    nowMs: () => nowMs,
  };
  const processes = [0, 1, 2].map(() => laterCounts(waiting));
  const heads = new Map<string, HeadOfDispatch>(
    [...ledger.dispatches].map(([dispatchId, { head }]) => [dispatchId, head]),
  );
  const eraseUntil = (untilMs: number) => {
    while ((erasures[0]?.atMs ?? untilMs) < untilMs) {
      const { dispatchId, indexes } = erasures.shift() as Erasure;
      ledger.erase(dispatchId, indexes);
      heads.set(dispatchId, { ...(heads.get(dispatchId) as HeadOfDispatch), erased: new Set(indexes) });
    }
  };

  const workOff = async (untilMs: number) => {
    for (;;) {
      queue.sort((one, other) => other.atMs - one.atMs);
      const next = queue.at(-1);
      if (next === undefined || next.atMs > untilMs) break;
      queue.pop();
      nowMs = Math.max(nowMs, next.atMs);
      eraseUntil(nowMs);
      if ((ledger.dispatches.get(next.message.dispatchId)?.head.total ?? 0) > 1_000) bulkCounts += 1;
      // A failed message is delivered again.
      await countWhenDue(next.message, { ...waiting, count: (dispatchId) => count([dispatchId]) }).catch(() =>
        queue.push({ ...next, atMs: nowMs + 60_000 }),
      );
    }
    nowMs = Math.max(nowMs, untilMs);
  };

  for (let first = 0; first < updates.length; ) {
    const batch = updates.slice(first, first + 1 + Math.floor(random() * 400));
    first += batch.length;
    await workOff(batch.at(-1)?.atMs ?? nowMs);
    eraseUntil(nowMs);
    const { numbers, unreadable, foreign } = readReceipts(
      batch.map(({ wabaId, value }) => ({ wabaId, field: 'messages', value })),
      nowMs,
    );
    expect([unreadable, foreign]).toEqual([0, 0]);
    const { dispatches } = matchReceipts([...numbers], heads, nowMs);
    for (let tries = 0; ; tries += 1) {
      if (random() < 0.05) processes[tries % 3] = laterCounts(waiting);
      const countLater = processes[Math.floor(random() * 3)] as ReturnType<typeof laterCounts>;
      try {
        for (const { head, receipts } of dispatches) ledger.dispatches.get(head.dispatchId)?.receipts.push(...receipts);
        const stated = async (dispatchIds: readonly string[]) =>
          new Map(
            dispatchIds.flatMap((id) => (ledger.statements.has(id) ? [[id, ledger.statements.get(id) as never]] : [])),
          );
        await countReceipts(dispatches, { stated, count, countLater });
        break;
      } catch (error) {
        if (tries > 50) throw error;
      }
    }
  }
  await workOff(Number.MAX_SAFE_INTEGER);

  const billed = bill.until(Number.POSITIVE_INFINITY);
  expect(billed.total.volume).toBeGreaterThan(6_000);
  const ofGroups = spendGroups.map((group) => spendOf(ledger.days(), group).total);
  for (const { messages, amount } of ofGroups)
    expect({ messages, amount }).toEqual({ messages: billed.total.volume, amount: billed.total.cost });
  const dayOf = (day: string) =>
    spendOf(
      ledger.days().filter((each) => each.day === day),
      'market',
    ).total.messages;
  for (const day of new Set(billed.data.map((line) => line.day))) {
    expect(dayOf(day)).toBe(
      billed.data.filter((line) => line.day === day).reduce((sum, { volume }) => sum + volume, 0),
    );
  }
  const cents = (dollars: number) => Math.round(dollars * 1e8);
  for (const { market, amount } of spendOf(ledger.days(), 'market').data) {
    // The platform's bill calls no country ZZ.
    const ofMarket = billed.data.filter(({ country }) => country === (market === 'Other' ? 'ZZ' : market));
    expect([market, cents(amount)]).toEqual([market, ofMarket.reduce((sum, { cost }) => sum + cents(cost), 0)]);
  }
  // Four thousand messages get tens of thousands of receipts in hundreds of runs.
  expect(bulkCounts).toBeLessThan(500);
}, 60_000);

test('a large dispatch is counted after half of its age, which begins with its first moment (D58, D56)', () => {
  const [nowMs, hourMs] = [acceptedAtMs + 20 * 86_400_000, 3_600_000];
  const delays = (ages: readonly number[], dispatch: (fromMs: number) => Parameters<typeof countDelayMs>[0]) =>
    ages.map((age) => countDelayMs(dispatch(nowMs - age), nowMs));
  const ages = [-hourMs, 0, hourMs, 20 * hourMs];
  const expected = [60_000, 60_000, hourMs / 2, 6 * hourMs];
  expect(delays(ages, (fromMs) => ({ acceptedAtMs: fromMs }))).toEqual(expected);
  expect(delays(ages, (fromMs) => ({ acceptedAtMs, when: { asked: {}, fromMs } }))).toEqual(expected);
});

test.each([
  [-60_000, true],
  [0, true],
  [10_000, true],
  [10_001, false],
])(
  'a count that is marked for %i ms from now may miss what was appended now: another one comes: %s (D58)',
  async (inMs, comes) => {
    const [nowMs, queued, marked]: [number, number[], number[]] = [acceptedAtMs + 30_000, [], []];
    const ensure = laterCounts({
      marks: { dueMs: async () => nowMs + inMs, mark: async (_, dueMs) => void marked.push(dueMs - nowMs) },
      queue: { sendLater: async (_, seconds) => void queued.push(seconds) },
      nowMs: () => nowMs,
    });
    await ensure(makeDispatchHead({ acceptedAtMs }));
    expect([queued, marked]).toEqual(comes ? [[60], [60_000]] : [[], []]);
  },
);

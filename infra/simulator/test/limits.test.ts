import fc from 'fast-check';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { demoSeed, type Seed } from '../src/seed.ts';
import { mostInAnySecond } from '../src/sending/describe-sending.ts';
import { ThroughputLimit } from '../src/sending/limits.ts';
import { firstNumber, firstWaba, recipient, type SimulatorAtRest, simulatorAtRest } from './support/simulator.ts';

let simulator: SimulatorAtRest;
beforeAll(async () => {
  simulator = await simulatorAtRest(withLevels('STANDARD', 'HIGH'));
});
beforeEach(() => simulator.control('POST', 'reset'));
afterAll(() => simulator.stop());

/** The first WABA's two numbers get other throughput levels; the second is a coexistence number. */
function withLevels(...levels: ('STANDARD' | 'HIGH')[]): Seed {
  const seed = demoSeed();
  const [first, ...others] = seed.wabas;
  if (first === undefined) throw new Error('the demo data has WABAs');
  const numbers = first.phone_numbers.map((number, index) => ({
    ...number,
    throughput: { level: levels[index] ?? 'HIGH' },
    is_on_biz_app: index === 1,
  }));
  return { ...seed, wabas: [{ ...first, phone_numbers: numbers }, ...others] };
}

async function codesOf(count: number, number: string, to: (index: number) => string): Promise<Record<string, number>> {
  const codes: Record<string, number> = {};
  for (let index = 0; index < count; index += 1) {
    const { status, body } = await simulator.send(to(index), {}, number);
    const code = status === 200 ? 'accepted' : `${status} ${body.error.code}`;
    codes[code] = (codes[code] ?? 0) + 1;
  }
  return codes;
}

const another = (index: number) => String(5491160000000 + index);

test('a number that is also on the app: 20 a second; numbers do not share', async () => {
  expect(await codesOf(21, '300000000000002', another)).toEqual({ accepted: 20, '400 130429': 1 });
  expect(await codesOf(1, firstNumber, another)).toEqual({ accepted: 1 });
});

test('the usage header is of the hour of the WABA: a number at its throughput uses up nothing of it', async () => {
  const usage = async (to: string) => {
    const { status, headers } = await simulator.send(to);
    const [management, messages] = JSON.parse(headers.get('x-business-use-case-usage') ?? '{}')[firstWaba];
    return [status, management.call_count, messages.call_count];
  };
  for (let index = 0; index < 79; index += 1) await simulator.send(another(index));
  expect([await usage(another(79)), await usage(another(80))]).toEqual([
    [200, 0, 0],
    [400, 0, 0],
  ]);
});

test('the limit is met exactly, and a message counts for one second to the millisecond', () => {
  const limit = new ThroughputLimit();
  const takes = Array.from({ length: 1_002 }, () => limit.take('1', 1_000, 5_500));
  expect(takes.filter((allowed) => !allowed)).toHaveLength(2);
  expect(limit.take('1', 1_000, 6_499)).toBe(false);
  expect(limit.take('1', 1_000, 6_500)).toBe(true);
});

test('no second, wherever it begins, has more than the limit; and nothing is refused that would fit', () => {
  const steps = fc.array(fc.integer({ min: 0, max: 400 }), { maxLength: 200 });
  fc.assert(
    fc.property(steps, fc.integer({ min: 1, max: 12 }), (waitsMs, perSecond) => {
      const limit = new ThroughputLimit();
      const taken: number[] = [];
      let nowMs = 0;
      for (const waitMs of waitsMs) {
        nowMs += waitMs;
        const inLastSecond = taken.filter((atMs) => nowMs - atMs < 1_000).length;
        expect(limit.take('1', perSecond, nowMs)).toBe(inLastSecond < perSecond);
        if (inLastSecond < perSecond) taken.push(nowMs);
      }
      expect(mostInAnySecond(taken)).toBeLessThanOrEqual(perSecond);
    }),
  );
});

test('a control call of a number counts from that moment on, also over an earlier limit', async () => {
  const change = (changes: object) => simulator.control('POST', `numbers/${firstNumber}`, changes);
  const codes = (count: number) => codesOf(count, firstNumber, another);
  expect(await codes(81)).toEqual({ accepted: 80, '400 130429': 1 });
  await change({ throughput: { level: 'HIGH' } });
  expect(await codes(2)).toEqual({ accepted: 2 });
  await change({ is_on_biz_app: true });
  expect(await codes(1)).toEqual({ '400 130429': 1 });
  await simulator.control('POST', 'clock', { advance_seconds: 1 });
  expect(await codes(21)).toEqual({ accepted: 20, '400 130429': 1 });
  await change({ is_on_biz_app: false });
  expect(await codes(2)).toEqual({ accepted: 2 });
  await change({ throughput: { level: 'STANDARD' } });
  expect(await codes(59)).toEqual({ accepted: 58, '400 130429': 1 });
});

test('one user: 45 at once, then one per 6 seconds (131056); other users are not affected', async () => {
  const same = () => recipient;
  const seconds = (advance_seconds: number) => simulator.control('POST', 'clock', { advance_seconds });
  expect(await codesOf(48, firstNumber, same)).toEqual({ accepted: 45, '400 131056': 3 });
  await seconds(5);
  expect(await codesOf(1, firstNumber, same)).toEqual({ '400 131056': 1 });
  await seconds(1);
  expect(await codesOf(2, firstNumber, same)).toEqual({ accepted: 1, '400 131056': 1 });
  expect(await codesOf(1, firstNumber, another)).toEqual({ accepted: 1 });
  await seconds(45 * 6);
  expect(await codesOf(46, firstNumber, same)).toEqual({ accepted: 45, '400 131056': 1 });
});

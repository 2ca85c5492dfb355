import fc from 'fast-check';
import { expect, test } from 'vitest';
import { hashPassword } from '../../../../lib/access/sign-in/password.ts';
import { type SignInPorts, signIn } from '../../../../lib/access/sign-in/sign-in.ts';
import { attemptsInMemory, cheapDerivation, credentialsInMemory, usersInMemory } from '../../../support/access.ts';
import { thorough } from '../../../support/thorough.ts';

/**
 * Explores the pace of guesses (login-throttle.ts) on a test clock: how many guesses an attacker gets who waits as
 * briefly as allowed, and that no attack locks the right person out.
 */

const midnight = Date.UTC(2026, 10, 20);
const secondMs = 1_000;
const hourMs = 3_600_000;
const profile = { userId: 'u-1', username: 'victim', clientId: 1001, permissions: [], campaignIds: [10] };
const { derive } = cheapDerivation();
const passwordHash = await hashPassword('right password', Buffer.alloc(16, 1), derive);

function world() {
  const attempts = attemptsInMemory();
  const ports: SignInPorts = {
    credentials: credentialsInMemory({ victim: { passwordHash, userId: 'u-1', clientId: 1001 } }),
    attempts,
    directory: usersInMemory([profile]),
    deriveKey: derive,
    newSalt: () => Buffer.alloc(16),
  };
  const tries = (network: string, password: string, nowMs: number) =>
    signIn(ports, { username: 'victim', network, password }, nowMs);
  return {
    attempts,
    guess: (network: string, nowMs: number) => tries(network, 'a guess', nowMs),
    guessAtOnce: (network: string, count: number, nowMs: number) =>
      Promise.all(Array.from({ length: count }, () => tries(network, 'a guess', nowMs))),
    logsIn: async (network: string, nowMs: number) => (await tries(network, 'right password', nowMs)) === profile,
  };
}

function counted(startedAtMs: readonly number[]) {
  const inHourFrom = startedAtMs.map((from) => startedAtMs.filter((at) => at >= from && at < from + hourMs).length);
  return { total: startedAtMs.length, mostInAnHour: Math.max(0, ...inHourFrom) };
}

const guessesBetween = (startedAtMs: readonly number[], fromHour: number, toHour: number) =>
  startedAtMs.filter((at) => at >= midnight + fromHour * hourMs && at < midnight + toHour * hourMs).length;

test('one address that tries every second waits 30 s after the tenth guess, doubling up to 15 minutes: 4 an hour', async () => {
  const { attempts, guess } = world();
  for (let nowMs = midnight; nowMs < midnight + 2 * hourMs; nowMs += secondMs) await guess('a', nowMs);
  const gaps = attempts.startedAtMs.slice(1).map((at, index) => (at - (attempts.startedAtMs[index] ?? 0)) / secondMs);
  expect(gaps).toEqual([...Array(9).fill(1), 30, 60, 120, 240, 480, ...Array(5).fill(900)]);
});

test('one address, volleys of any size at any time: 23 guesses in any hour at most', async () => {
  const volleys = fc.array(
    fc.record({
      afterMs: fc.oneof(fc.constant(0), fc.integer({ min: 0, max: hourMs }), fc.integer({ min: 0, max: 60_000 })),
      count: fc.integer({ min: 1, max: 60 }),
    }),
    { minLength: 1, maxLength: 40 },
  );
  await fc.assert(
    fc.asyncProperty(volleys, async (drawn) => {
      const { attempts, guessAtOnce } = world();
      let nowMs = midnight;
      for (const { afterMs, count } of drawn) {
        nowMs += afterMs;
        if (nowMs >= midnight + 24 * hourMs) break;
        await guessAtOnce('a', count, nowMs);
      }
      expect(counted(attempts.startedAtMs).mostInAnHour).toBeLessThanOrEqual(23);
    }),
    { numRuns: thorough ? 200 : 50 },
  );
});

test.each(thorough ? [3, 10, 100] : [3, 20])(
  '%i addresses that never wait longer than they must: 20 + 8N guesses in the first hour, 20 + 2N in each further one',
  async (addresses) => {
    const { attempts, guess } = world();
    for (let nowMs = midnight; nowMs < midnight + 6 * hourMs; nowMs += 30 * secondMs) {
      for (let address = 0; address < addresses; address += 1) await guess(`address ${address}`, nowMs);
    }
    const perHour = [0, 1, 2, 3, 4, 5].map((hour) => guessesBetween(attempts.startedAtMs, hour, hour + 1));
    expect(perHour[0]).toBeLessThanOrEqual(20 + 8 * addresses);
    expect(Math.max(...perHour.slice(1))).toBeLessThanOrEqual(20 + 2 * addresses);
    // One attacked name yields fewer guesses than as many attackers with a name each.
    if (addresses > 10) expect(perHour[0]).toBeLessThan((addresses * 17) / 2);
  },
);

/** An attacker guesses any number of times at once, from any address, with any pause. */
const attack = fc.array(
  fc.record({
    afterMs: fc.integer({ min: 0, max: 2 * hourMs }),
    network: fc.integer({ min: 1, max: 8 }).map((id) => `attacker ${id}`),
    count: fc.integer({ min: 1, max: 30 }),
  }),
  { maxLength: 60 },
);

test('whatever others do, the right password from a clean address is always accepted (D11)', async () => {
  await fc.assert(
    fc.asyncProperty(attack, async (drawn) => {
      const { guessAtOnce, logsIn } = world();
      let nowMs = midnight;
      for (const { afterMs, network, count } of drawn) {
        nowMs += afterMs;
        await guessAtOnce(network, count, nowMs);
        expect(await logsIn('home', nowMs)).toBe(true);
      }
      expect(await logsIn('never seen', nowMs)).toBe(true);
      const fleet = await Promise.all(Array.from({ length: 5 }, () => logsIn('workers', nowMs)));
      expect(fleet).toEqual(Array(5).fill(true));
    }),
    { numRuns: thorough ? 100 : 25 },
  );
});

test('at an address that others use for guessing, the right person waits an hour at most, and trying makes it no longer', async () => {
  await fc.assert(
    fc.asyncProperty(attack, async (drawn) => {
      const { guessAtOnce, logsIn } = world();
      let nowMs = midnight;
      for (const { afterMs, count } of drawn) {
        nowMs += afterMs;
        await guessAtOnce('office', count, nowMs);
      }
      let waitedMs = 0;
      while (!(await logsIn('office', nowMs + waitedMs))) waitedMs += 30 * secondMs;
      expect(waitedMs).toBeLessThanOrEqual(hourMs);
    }),
    { numRuns: thorough ? 100 : 25 },
  );
});

test('twenty workers behind one address log in at once, again and again', async () => {
  const { logsIn } = world();
  for (let round = 0; round < 5; round += 1) {
    const fleet = await Promise.all(Array.from({ length: 20 }, () => logsIn('workers', midnight + round)));
    expect(fleet).toEqual(Array(20).fill(true));
  }
});

test('a right login erases what was wrong before it: typing errors do not add up', async () => {
  const { guess, logsIn } = world();
  for (let login = 0; login < 8; login += 1) {
    const nowMs = midnight + login * 2 * hourMs;
    for (let typo = 0; typo < 9; typo += 1) await guess('home', nowMs);
    expect(await logsIn('home', nowMs), `login ${login}`).toBe(true);
  }
});

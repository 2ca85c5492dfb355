import { expect, test } from 'vitest';
import { Turns } from '../../../../lib/messages/sender/turns.ts';

test('what is in front has every second turn, and all of them once the others have gone (D44)', async () => {
  let nowMs = 0;
  const pause = async (ms: number) => {
    nowMs += ms;
  };
  const turns = new Turns({ nowMs: () => nowMs, pause, everyMs: () => 100, lastMs: 10_000 });
  const order: string[] = [];
  const asks = ['a', 'b', 'c'].map((name) => turns.take(false).then(() => order.push(`${name} ${nowMs}`)));
  for (const name of ['X', 'Y', 'Z', 'W', 'V']) {
    asks.push(turns.take(true).then(() => order.push(`${name} ${nowMs}`)));
  }
  await Promise.all(asks);
  expect(order.map((each) => each[0]).join('')).toBe('aXbYcZWV');
});

/** Every hundred milliseconds has a turn; time passes as it is waited for. */
function turnsUntil(lastMs: number, everyMs = () => 100) {
  const time = { nowMs: 1_000 };
  const pause = async (ms: number) => {
    time.nowMs += ms;
  };
  return { time, turns: new Turns({ nowMs: () => time.nowMs, pause, everyMs, lastMs }) };
}

test('turns are apart by the pace of their moment; those that passed unused are made up for 75 ms', async () => {
  let everyMs = 100;
  const { time, turns } = turnsUntil(100_000, () => everyMs);
  const atMs: number[] = [];
  const take = async () => {
    expect(await turns.take(false)).toBe(true);
    atMs.push(time.nowMs);
  };
  for (let at = 0; at < 3; at += 1) await take();
  everyMs = 1_000;
  await take();
  await take();
  // The first turn counts as of 75 ms ago.
  expect(atMs).toEqual([1_000, 1_025, 1_125, 1_225, 2_225]);
  time.nowMs = 10_000;
  await take();
  await take();
  expect(atMs.slice(5)).toEqual([10_000, 10_925]);
});

test('no turn comes while others may have theirs', async () => {
  const { time, turns } = turnsUntil(100_000);
  turns.notBefore(5_000);
  turns.notBefore(2_000);
  expect([turns.endMs, await turns.take(false), time.nowMs]).toEqual([5_000, true, 5_000]);
});

test('turns end behind all that wait for one, and are over once none can come in time', async () => {
  const { turns } = turnsUntil(1_250);
  const taken = [turns.take(false), turns.take(true), turns.take(false)];
  // The first turn is given at once.
  expect([turns.waiting(false), turns.waiting(true)]).toEqual([1, 1]);
  expect([turns.endMs, turns.areOver]).toEqual([1_000 - 75 + 300, false]);
  taken.push(turns.take(false), turns.take(false));
  expect(turns.areOver).toBe(true);
  expect(await Promise.all(taken)).toEqual([true, true, true, true, false]);
  expect(turns.areOver).toBe(true);
});

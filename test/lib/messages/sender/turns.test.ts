import { expect, test } from 'vitest';
import { Turns } from '../../../../lib/messages/sender/turns.ts';

test('what is in front has every second turn, and all of them once the others have gone (D44)', async () => {
  let nowMs = 0;
  const pause = async (ms: number) => {
    nowMs += ms;
  };
  const turns = new Turns({ nowMs: () => nowMs, pause, everyMs: () => 100 });
  const order: string[] = [];
  const asks = ['a', 'b', 'c'].map((name) => turns.take().then(() => order.push(`${name} ${nowMs}`)));
  for (const name of ['X', 'Y', 'Z', 'W', 'V']) {
    asks.push(turns.take(true).then(() => order.push(`${name} ${nowMs}`)));
  }
  await Promise.all(asks);
  expect(order.map((each) => each[0]).join('')).toBe('aXbYcZWV');
});

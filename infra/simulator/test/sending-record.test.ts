import { describe, expect, test } from 'vitest';
import { mostInAnySecond } from '../src/sending/describe-sending.ts';
import { firstNumber, simulatorOfFile } from './support/simulator.ts';

const simulator = simulatorOfFile({ afresh: true });
const sending = async (limit?: number) =>
  (await simulator.control('GET', limit === undefined ? 'sending' : `sending?limit=${limit}`)).body;
const send = (to: string, messageId?: string) =>
  simulator.send(to, messageId === undefined ? {} : { biz_opaque_callback_data: messageId }).catch(() => undefined);
const at = (second: number) => `2026-11-20T12:00:0${second}.000Z`;

describe('how each number was used', () => {
  test('calls, accepted and throttled ones, for each second; a number without calls too', async () => {
    await send('5491150000001');
    await send('15550230429');
    await simulator.control('POST', 'faults', { action: { code: 130429 }, times: 1 });
    await send('5491150000002');
    await simulator.control('POST', 'clock', { advance_seconds: 2 });
    await send('15550231026');
    await send('5491150000002');
    const { data } = await sending();
    expect(data[0]).toEqual({
      phone_number_id: firstNumber,
      limit_per_second: 1_000,
      calls: 5,
      accepted: 2,
      throttled: 2,
      most_calls_in_a_second: 3,
      most_accepted_in_a_second: 1,
      seconds: [
        { at: at(0), calls: 3, accepted: 1, throttled: 2 },
        { at: at(2), calls: 2, accepted: 1, throttled: 0 },
      ],
    });
    expect(data.slice(1)).toEqual([
      expect.objectContaining({ phone_number_id: '300000000000002', calls: 0, most_calls_in_a_second: 0, seconds: [] }),
      expect.objectContaining({ phone_number_id: '300000000000003', calls: 0 }),
    ]);
  });

  test('a message id that is accepted twice is a duplicate, also where the answer was lost', async () => {
    await send('15550000200', 'A-0');
    await send('5491150000001', 'A-0');
    await send('5491150000001', 'A-1');
    await send('15550000100', 'A-1');
    await send('5491150000001');
    await send('5491150000001');
    const found = { total: 1, data: [{ message_id: 'A-0', accepted: 2 }] };
    expect(await sending()).toMatchObject({ duplicates: found, without_message_id: 2 });
    expect((await sending(0)).duplicates).toEqual({ total: 1, data: [] });
    await simulator.control('POST', 'reset');
    expect(await sending()).toMatchObject({ duplicates: { total: 0 }, without_message_id: 0 });
  });

  test.each([
    [[], 0],
    [[5], 1],
    [[0, 999], 2],
    [[0, 1_000], 1],
    [[0, 600, 1_200, 1_599, 1_600], 3],
  ])('the most of %j in any second: %i', (timesMs, most) => {
    expect(mostInAnySecond(timesMs)).toBe(most);
  });
});

import { expect, test } from 'vitest';
import { decodeSenderWake, encodeSenderWake } from '../../../../lib/messages/dispatch/sender-wake.ts';

const wake = { phoneNumberId: '300000000000001', part: 0, of: 1, delaySeconds: 0 };

test.each([wake, { ...wake, dispatchId: 'J' }, { ...wake, part: 7, of: 8, delaySeconds: 36 }])(
  'a wake is read as it was written: %j',
  (each) => expect(decodeSenderWake(encodeSenderWake(each))).toEqual(each),
);

test('a wake without a delay was not held back', () => {
  const { delaySeconds: _, ...atOnce } = wake;
  expect(decodeSenderWake(JSON.stringify({ version: 1, ...atOnce }))).toEqual(wake);
});

test.each([
  ['no JSON', 'x'],
  ['no version', JSON.stringify(wake)],
  ['no number', JSON.stringify({ version: 1, part: 0, of: 1 })],
  ['a part that is not there', encodeSenderWake({ ...wake, part: 8, of: 8 })],
  ['a part before the first', encodeSenderWake({ ...wake, part: -1 })],
  ['half a part', encodeSenderWake({ ...wake, part: 0.5 })],
  ['half a sender', encodeSenderWake({ ...wake, of: 1.5 })],
])('a body is no wake: %s', (_, body) => expect(() => decodeSenderWake(body)).toThrow());

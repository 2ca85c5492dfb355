import { expect, test } from 'vitest';
import {
  decodeSmallRequest,
  encodeSmallRequest,
  smallRequestVersion,
} from '../../../../lib/messages/dispatch/small-request-message.ts';
import { makeDispatch, makeRecipients } from '../../../support/made-dispatches.ts';

const header = { type: 'image_url', value: 'https://cdn.example.com/a.png' } as const;
const requestOf = (size: number) => ({
  ...makeDispatch(makeRecipients(size), { urgent: true, correlationId: 'c-1', attends: { waitTime: -1 } }),
  header,
  limitPerSecond: 80,
});

test.each([1, 10])('a request of %i travels whole', (size) => {
  expect(decodeSmallRequest(encodeSmallRequest(requestOf(size)))).toEqual(requestOf(size));
});

test.each([
  ['of none', { recipients: [] }],
  ['of eleven', { recipients: makeRecipients(11) }],
  ['without a head', { head: undefined }],
  ['without a plan', { plan: undefined }],
  ['without a limit', { limitPerSecond: undefined }],
])('a message %s is no small request', (_, changed) => {
  const body = JSON.stringify({ version: smallRequestVersion, ...requestOf(1), ...changed });
  expect(() => decodeSmallRequest(body)).toThrow();
});

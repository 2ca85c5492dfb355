import { expect, it } from 'vitest';
import { Refusal } from '../../../../lib/http/refusal.ts';
import { checkSend } from '../../../../lib/messages/accept/check-send.ts';
import { countedBy } from '../../../support/counted.ts';
import { sendable } from '../../../support/platform-templates.ts';
import { sendableDid, sendPorts } from '../../../support/send-page.ts';

/**
 * Acceptance's objective excludes answers of 500 and above that the service did not cause (infra/operate/README.md).
 */

const send = {
  request: {
    did: '5491100000001',
    template: { name: 'order', language: 'en_US' },
    recipients: [{ to: '5491155550001' }],
  },
  caller: { clientId: 1001, permissions: new Set<string>() },
  ...{ clientId: 1001, did: sendableDid, dispatchId: 'J' },
} as unknown as Parameters<typeof checkSend>[0];

it.each([
  ['the platform did not answer', new Refusal('platform_unreachable', 'no', { cause: new Error('platform') }), 1],
  ['the request was not finished in time', new Refusal('platform_unreachable', 'late'), undefined],
  ['the queue took nothing', new Refusal('dispatch_unavailable', 'no', { cause: new Error('SQS') }), undefined],
  ['a fault of ours', new TypeError('ours'), undefined],
] as const)('%s', async (_, error, counted) => {
  const ports = sendPorts(sendable.order, () => 0);
  const templates = { ...ports.templates, find: () => Promise.reject(error) };
  const check = () => checkSend(send, { ...ports, templates });
  expect((await countedBy(check))[0]?.['SendsFailedByPlatform']).toBe(counted);
  await expect(check()).rejects.toBe(error);
});

import { expect, test } from 'vitest';
import type { PlatformFailure } from '../../../../lib/platform/failure.ts';
import type { PlatformCall } from '../../../../lib/platform/transport.ts';
import { templateManagement } from '../../../../lib/templates/authoring/platform-template-management.ts';

const timeLeftMs = () => 7_000;
const waba = { wabaId: '200000000000001', credential: 'demo' };

function managed(reply: Record<string, unknown>) {
  const calls: PlatformCall[] = [];
  const management = templateManagement(
    async (call) => {
      calls.push(call);
      return { body: reply };
    },
    async (name) => ({ accessToken: `${name}-token`, appId: '1' }),
  );
  return { calls, management };
}

const failureOf = (promise: Promise<unknown>) => promise.then(String, (error: PlatformFailure) => error.kind);

test('creates on the WABA and reads id, status and category', async () => {
  const { calls, management } = managed({ id: '7', status: 'PENDING', category: 'UTILITY', more: 1 });
  const template = { name: 'order_update' };
  expect(await management.create(waba, template, timeLeftMs)).toEqual({
    id: '7',
    status: 'PENDING',
    category: 'UTILITY',
  });
  const path = '200000000000001/message_templates';
  const { wabaId } = waba;
  expect(calls).toEqual([
    { method: 'POST', path, body: template, accessToken: 'demo-token', wabaId, timeoutMs: 7_000 },
  ]);
});

test('edits the template itself', async () => {
  const { calls, management } = managed({ success: true });
  await management.edit(waba, { id: '7', changes: { components: [] } }, timeLeftMs);
  const { wabaId } = waba;
  expect(calls).toEqual([
    { method: 'POST', path: '7', body: { components: [] }, accessToken: 'demo-token', wabaId, timeoutMs: 7_000 },
  ]);
});

test('deletes by id and name, so that other languages stay (D21)', async () => {
  const { calls, management } = managed({ success: true });
  await management.remove(waba, { id: '7', name: 'order_update' });
  expect(calls).toMatchObject([
    { method: 'DELETE', path: '200000000000001/message_templates', query: { hsm_id: '7', name: 'order_update' } },
  ]);
});

test.each([{}, { success: false }, { id: 7, status: 'PENDING', category: 'UTILITY' }])(
  'an answer that says nothing of use is no success: %j',
  async (reply) => {
    const { management } = managed(reply);
    expect(await failureOf(management.create(waba, {}, timeLeftMs))).toBe('ambiguous');
    expect(await failureOf(management.edit(waba, { id: '7', changes: {} }, timeLeftMs))).toBe('ambiguous');
    expect(await failureOf(management.remove(waba, { id: '7', name: 'x' }))).toBe('ambiguous');
  },
);

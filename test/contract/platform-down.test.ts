import { randomUUID } from 'node:crypto';
import { DeleteCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { lookupKey } from '../../lib/messages/dispatch/items.ts';
import { factKey } from '../../lib/templates/model/items.ts';
import { templateKey } from '../../lib/templates/model/template-key.ts';
import { eventually, platform, synchronize } from '../support/api.ts';
import { eraseTemplate } from '../support/erase-template.ts';
import { expectRefusal } from '../support/expected-refusal.ts';
import { forgottenTemplate } from '../support/forgotten-template.ts';
import { asSupervisor, orderDid as did, orderBody } from '../support/order-updates.ts';
import { runningTarget } from '../support/running-target.ts';

const target = runningTarget();
const forgotten = `forgotten_${randomUUID().replaceAll('-', '_')}`;
let recipient = 549_520_000_000;

beforeAll(() => synchronize('supervisor1001'));
afterEach(async () => {
  await platform('DELETE /_control/faults');
});
afterAll(() => eraseTemplate(target, forgotten));

const sendBody = (template?: Parameters<typeof orderBody>[1]) => orderBody([String(++recipient)], template);
const send = (body: unknown = sendBody()) => asSupervisor(`POST /v1/template/messages/${did}`, { body });
const synchronizeOnce = () => asSupervisor('POST /v1/templates/sync-from-platform');

describe('the platform is down (D7, D23)', () => {
  const failures: [string, Record<string, unknown>][] = [
    ['closes the connection', { drop: 'before' }],
    ['answers with a page', { html: true }],
    ['refuses our credential', { code: 190 }],
  ];
  let names = 0;
  /** Each name is new, because the service remembers a 404 for 10 s (D23). */
  const unknownHere = () => sendBody({ name: `never_stored_${++names}`, language: 'en_US' });

  test.each(failures)('%s: 502 for what must be asked', async (_, action) => {
    await platform('POST /_control/faults', { match: { path: 'message_templates' }, action });
    expectRefusal(await send(unknownHere()), 502, 'platform_unreachable');
    const refused = await eventually('the lock is free', async () => {
      const reply = await synchronizeOnce();
      return reply.status === 409 ? undefined : reply;
    });
    expectRefusal(refused, 502, 'platform_unreachable');
    // The refused synchronization has released its lease.
    expectRefusal(await synchronizeOnce(), 502, 'platform_unreachable');
    await platform('DELETE /_control/faults');
    expect(await send(unknownHere())).toMatchObject({ status: 404 });
  });

  test('does not answer in time: 502', async () => {
    await platform('POST /_control/faults', {
      match: { path: 'message_templates' },
      action: { delay_ms: 30_000, drop: 'before' },
    });
    expectRefusal(await send(unknownHere()), 502, 'platform_unreachable');
  });

  test('limits the rate: 429 with Retry-After', async () => {
    await platform('POST /_control/faults', { match: { path: 'message_templates' }, action: { code: 80008 } });
    for (const reply of [await send(unknownHere()), await synchronizeOnce()]) {
      expectRefusal(reply, 429, 'platform_rate_limited');
      expect(Number(reply.headers.get('retry-after'))).toBeGreaterThan(0);
    }
  });

  test('refuses what is asked: 400 with its code', async () => {
    const id = await forgottenTemplate(target, forgotten);
    await platform('POST /_control/faults', { match: { path: 'message_templates' }, action: { code: 100 } });
    const remove = () => asSupervisor(`DELETE /v1/templates/${did}/${id}`);
    for (const reply of [await send(unknownHere()), await synchronizeOnce(), await remove()]) {
      expectRefusal(reply, 400, 'platform_refused');
      expect(reply.body.platform_code).toBe(100);
    }
  });

  test('a stored copy that has grown old is used, and the answer says so', async () => {
    const key = templateKey({ wabaId: '200000000000001', name: 'order_update', language: 'en_US' });
    await target.documentClient.send(
      new UpdateCommand({
        TableName: target.tableName('templates'),
        Key: factKey(key),
        UpdateExpression: 'SET readAtMs = readAtMs - :sixMinutes',
        ConditionExpression: 'attribute_exists(pk)',
        ExpressionAttributeValues: { ':sixMinutes': 360_000 },
      }),
    );
    await platform('POST /_control/faults', { match: { path: 'message_templates' }, action: { drop: 'before' } });
    const warned = await send();
    expect(warned).toMatchObject({ status: 200, body: { success: true, warning: expect.stringContaining('stored') } });
    await platform('DELETE /_control/faults');
    // The service asks the platform once in 10 s, and answers from the copy until then.
    expect(await send()).toMatchObject({ status: 200, body: warned.body });
    // Deleting the question ends the 10 s for the tests that send next.
    const Key = lookupKey(`renewal ${key}`);
    await target.documentClient.send(new DeleteCommand({ TableName: target.tableName('messages'), Key }));
    expect(await send()).toMatchObject({ status: 200, text: '{"success":true}' });
  });
});

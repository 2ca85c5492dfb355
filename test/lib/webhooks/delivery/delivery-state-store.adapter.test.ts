import { UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { expect, test } from 'vitest';
import { webhookConfigStore } from '../../../../lib/webhooks/config/config-store.ts';
import { afterFailure, leaseForFresh } from '../../../../lib/webhooks/delivery/delivery-state.ts';
import { deliveryStateStore } from '../../../../lib/webhooks/delivery/delivery-state-store.ts';
import { freshTable, localDocumentClient } from '../../../support/stores.ts';

const client = localDocumentClient();
const table = await freshTable('webhooks');
const states = deliveryStateStore({ client, table, pause: async () => undefined });
const failure = { kind: 'failed', code: '500', overloaded: false } as const;

const run = (owner: string) => ({ owner, messages: [owner] });

test('of twenty runs at once one gets the lease; the others change nothing', async () => {
  const entries = await Promise.all(
    Array.from({ length: 20 }, (_, at) => states.change(1, (state) => leaseForFresh(state, run(`run ${at}`), 1_000))),
  );
  const [winner, ...others] = entries.filter(({ changed }) => changed);
  expect(others).toEqual([]);
  expect(await states.change(1, () => undefined)).toMatchObject({ changed: false, state: winner?.state });
});

test('what a run gives back is gone', async () => {
  await states.change(7, (state) => leaseForFresh(state, run('mine'), 1_000));
  await states.change(7, ({ lease: _, ...state }) => ({ ...state, wakeAtMs: 9 }));
  const { state } = await states.change(7, () => undefined);
  const versions = { seenVersion: 0, triedVersion: 0 };
  expect(state).toEqual({ isCalled: false, wakeAtMs: 9, pausedUntilMs: 0, ...versions, consecutiveFailures: 0 });
});

test('changes that meet are all made, one on top of the other', async () => {
  await states.change(2, (state) => afterFailure(state, failure, 5_000));
  await Promise.all([
    states.change(2, (state) => afterFailure(state, failure, 6_000)),
    states.change(2, (state) => afterFailure(state, failure, 6_000)),
  ]);
  const { state } = await states.change(2, () => undefined);
  expect(state).toMatchObject({ consecutiveFailures: 3, failingSinceMs: 5_000, lastFailureMs: 6_000 });
});

test('a state that never holds still is an error after ten tries', async () => {
  const restless = localDocumentClient();
  let writes = 0;
  restless.middlewareStack.add(
    (next, context) => async (args) => {
      if (context['commandName'] === 'PutItemCommand') {
        writes += 1;
        await states.change(3, (state) => afterFailure(state, failure, writes));
      }
      return await next(args);
    },
    { step: 'deserialize', name: 'meddle' },
  );
  const entering = deliveryStateStore({ client: restless, table, pause: async () => undefined }).change(3, (state) =>
    leaseForFresh(state, run('mine'), 10_000_000),
  );
  await expect(entering).rejects.toThrow('changed under 10 tries');
  expect(writes).toBe(10);
  expect((await states.change(3, () => undefined)).state.lease).toBeUndefined();
});

test('failures that a new configuration forgets are forgotten', async () => {
  await states.change(4, (state) => afterFailure(state, failure, 5_000));
  await webhookConfigStore(client, table).forgetFailures(4);
  const { state } = await states.change(4, () => undefined);
  expect(state).toMatchObject({ consecutiveFailures: 0, pausedUntilMs: 0 });
  expect(state).not.toHaveProperty('failingSinceMs');
  const { state: failed } = await states.change(4, (before) => afterFailure(before, failure, 9_000));
  expect(failed.failingSinceMs).toBe(9_000);
});

test('a delivery that ends while failures are forgotten does not bring them back', async () => {
  await states.change(6, (state) => afterFailure(state, failure, 5_000));
  const overtaken = localDocumentClient();
  let writes = 0;
  overtaken.middlewareStack.add(
    (next, context) => async (args) => {
      if (context['commandName'] === 'PutItemCommand') writes += 1;
      if (writes === 1 && context['commandName'] === 'PutItemCommand') {
        await webhookConfigStore(client, table).forgetFailures(6);
      }
      return await next(args);
    },
    { step: 'deserialize', name: 'overtake' },
  );
  const { change } = deliveryStateStore({ client: overtaken, table, pause: async () => undefined });
  const { state } = await change(6, (before) => afterFailure(before, failure, 9_000));
  expect([writes, state.consecutiveFailures, state.failingSinceMs]).toEqual([2, 1, 9_000]);
});

test('an item that lost what it need not have is read as one without', async () => {
  const Key = { pk: 'CLIENT#5', sk: 'DELIVERY' };
  await states.change(5, (state) => leaseForFresh(state, run('mine'), 0));
  await client.send(new UpdateCommand({ TableName: table, Key, UpdateExpression: 'REMOVE lease, isCalled, wakeAtMs' }));
  expect((await states.change(5, (state) => leaseForFresh(state, run('other'), 0))).state.lease?.owner).toBe('other');
});

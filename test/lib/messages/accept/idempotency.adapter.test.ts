import { createHash } from 'node:crypto';
import { GetCommand } from '@aws-sdk/lib-dynamodb';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { tableOf } from '../../../../lib/aws/table.ts';
import { Refusal } from '../../../../lib/http/refusal.ts';
import { acceptedDispatchesStore } from '../../../../lib/messages/accept/accepted-dispatches-store.ts';
import {
  type Accepted,
  acceptOnce,
  bodyHashOf,
  type IdempotencyRecord,
  rememberedMs,
} from '../../../../lib/messages/accept/idempotency.ts';
import { idempotencyStore } from '../../../../lib/messages/accept/idempotency-store.ts';
import { beginListed } from '../../../support/begun-dispatches.ts';
import { makeDispatchHead } from '../../../support/made-dispatches.ts';
import { keyWrites } from '../../../support/messages-table/key-item.ts';
import { writtenBy } from '../../../support/messages-table/written.ts';
import { type Attempt, type Fault, injectFaults } from '../../../support/queue-faults.ts';
import { freshTable, localDocumentClient } from '../../../support/stores.ts';

const table = await freshTable('messages');
const startMs = 1_700_000_000_000;
const undecided = new Refusal('dispatch_undecided', 'not known');
const refused = new Refusal('invalid_recipients', 'no');
let keys = 0;

let written: string[] = [];
beforeEach(() => {
  written = [];
  vi.spyOn(process.stdout, 'write').mockImplementation((text) => written.push(String(text)) > 0);
});
afterEach(() => vi.restoreAllMocks());
const logged = () => written.map((line) => JSON.parse(line));

function portsOn(documents: ReturnType<typeof localDocumentClient>, clock: { readonly nowMs: number }) {
  const name = keys;
  let ids = 0;
  return {
    records: idempotencyStore(tableOf(documents, table)),
    budgets: { release: async () => undefined },
    acceptance: acceptedDispatchesStore(tableOf(documents, table, { nowMs: () => clock.nowMs })),
    nowMs: () => clock.nowMs,
    remainingMs: () => 29_000,
    newDispatchId: () => {
      ids += 1;
      return `dispatch ${name}-${ids}`;
    },
  };
}

/** Makes a key with a clock and a count of acceptances; `run` makes a request with it. */
function setup(faults?: (attempt: Attempt) => Fault) {
  keys += 1;
  const scope = { clientId: 1001, did: '5491100000001', key: `key ${keys}` };
  const clock = { nowMs: startMs };
  const accepted: string[] = [];
  const documents = localDocumentClient();
  const attempts = injectFaults(documents, faults ?? (() => undefined));
  const ports = portsOn(documents, clock);
  const acceptDispatch = async (dispatchId: string): Promise<Accepted> => {
    accepted.push(dispatchId);
    return { dispatchId, warning: 'a warning' };
  };
  return {
    ...{ scope, clock, accepted, attempts, records: ports.records },
    run: (
      body: unknown = { a: 1 },
      accept: (dispatchId: string) => Promise<Accepted> = acceptDispatch,
      override = {},
    ) => acceptOnce({ ...scope, ...override }, { bodyHash: bodyHashOf(body) }, ports, accept),
    begin: (dispatchId: string) =>
      beginListed(ports.acceptance, { head: makeDispatchHead({ dispatchId }), repeats: [] }),
  };
}

const never = () => new Promise<never>(() => undefined);
const crash = async () => {
  throw undecided;
};

test('the same key and body again: the first answer, nothing accepted twice', async () => {
  const { run, accepted, clock } = setup();
  const first = await run();
  clock.nowMs += rememberedMs - 1;
  expect(await run()).toEqual(first);
  expect(first).toEqual({ dispatchId: accepted[0], warning: 'a warning' });
  expect(accepted).toHaveLength(1);
});

test('an answer without warning is repeated without one', async () => {
  const { run } = setup();
  const plain = async (dispatchId: string) => ({ dispatchId });
  expect(await run({ a: 1 }, plain)).toEqual(await run({ a: 1 }, plain));
});

test('a first run takes two requests, a repeated one takes one', async () => {
  const { run, attempts } = setup();
  await run();
  expect(attempts.map(({ command }) => command)).toEqual(['PutItemCommand', 'UpdateItemCommand']);
  await run();
  expect(attempts.map(({ command }) => command).slice(2)).toEqual(['PutItemCommand']);
});

test('another body: 422, whether the first has ended or not', async () => {
  const ended = setup();
  await ended.run();
  await expect(ended.run({ a: 2 })).rejects.toMatchObject({
    status: 422,
    code: 'idempotency_key_reused',
    message: 'the Idempotency-Key was used with another request body or time',
  });
  const running = setup();
  const claimed = Promise.withResolvers<void>();
  void running.run({ a: 1 }, () => {
    claimed.resolve();
    return never();
  });
  await claimed.promise;
  await expect(running.run({ a: 2 })).rejects.toMatchObject({ status: 422 });
});

test('another client, DID or key is another request', async () => {
  const { run, accepted } = setup();
  await run();
  await run({ a: 1 }, undefined, { clientId: 1002 });
  await run({ a: 1 }, undefined, { did: '5491100000002' });
  await run({ a: 1 }, undefined, { key: 'another' });
  expect(accepted).toHaveLength(4);
});

test('50 at once: one is accepted, the others get its answer or 409 (R21)', async () => {
  const { run, accepted } = setup();
  const results = await Promise.allSettled(Array.from({ length: 50 }, () => run()));
  expect(accepted).toHaveLength(1);
  for (const result of results) {
    if (result.status === 'fulfilled') expect(result.value.dispatchId).toBe(accepted[0]);
    else expect(result.reason).toMatchObject({ status: 409, code: 'request_in_progress' });
  }
  expect(await run()).toMatchObject({ dispatchId: accepted[0] });
});

test.each([
  ['refused', refused],
  ['failed', new TypeError('bug')],
])('a request that was %s is not remembered', async (_, error) => {
  const { run, accepted } = setup();
  await expect(run({ a: 1 }, () => Promise.reject(error))).rejects.toBe(error);
  await run({ a: 2 });
  expect(accepted).toHaveLength(1);
});

test('after 48 hours the key is free, though its item may still be there', async () => {
  const { run, accepted, clock } = setup();
  await run();
  clock.nowMs += rememberedMs;
  await run({ a: 2 });
  expect(accepted).toHaveLength(2);
});

describe('a run that died', () => {
  test('is 409 until it must have ended', async () => {
    const { run, clock } = setup();
    await expect(run({ a: 1 }, crash)).rejects.toBe(undecided);
    clock.nowMs += 34_999;
    await expect(run()).rejects.toMatchObject({
      status: 409,
      message: 'an earlier request, on which the answer depends, is still running',
      details: { headers: { 'retry-after': '5' } },
    });
  });

  test('and whose dispatch was never begun is taken over, its dispatch withdrawn', async () => {
    const { run, accepted, clock, begin } = setup();
    let first = '';
    const died = async (dispatchId: string) => {
      first = dispatchId;
      throw undecided;
    };
    await expect(run({ a: 1 }, died)).rejects.toBe(undecided);
    clock.nowMs += 35_000;
    const second = await run();
    expect(accepted).toEqual([second.dispatchId]);
    expect(second.dispatchId).not.toBe(first);
    expect(await begin(first)).toBe('withdrawn');
    expect(await run()).toEqual(second);
  });

  test('and whose dispatch was begun is answered, nothing accepted again', async () => {
    const { run, accepted, clock, begin, attempts } = setup();
    let first = '';
    const died = async (dispatchId: string) => {
      first = dispatchId;
      await begin(dispatchId);
      throw undecided;
    };
    await expect(run({ a: 1 }, died)).rejects.toBe(undecided);
    clock.nowMs += 35_000;
    expect(await run()).toEqual({ dispatchId: first });
    const before = attempts.length;
    expect(await run()).toEqual({ dispatchId: first });
    // The outcome is stored with the key, so one request finds it.
    expect(attempts.slice(before).map(({ command }) => command)).toEqual(['PutItemCommand']);
    expect(accepted).toEqual([]);
  });

  test('is taken over by one of 20', async () => {
    const { run, accepted, clock } = setup();
    await expect(run({ a: 1 }, crash)).rejects.toBe(undecided);
    clock.nowMs += 35_000;
    await Promise.allSettled(Array.from({ length: 20 }, () => run()));
    expect(accepted).toHaveLength(1);
  });
});

test('once another takes over, the run that died records no answer, however late its last write lands (D25)', async () => {
  const { scope, run } = setup();
  const records = idempotencyStore(tableOf(localDocumentClient(), table));
  const died = {
    bodyHash: bodyHashOf({ a: 1 }),
    dispatchId: 'died',
    startedAtMs: startMs - 35_000,
    state: 'running',
  } as const;
  const renewed = { ...died, startedAtMs: startMs };
  const { signal } = new AbortController();
  expect(await records.claim(scope, died)).toBeUndefined();
  expect(await records.takeOver(scope, died, renewed)).toBe(true);
  expect(await records.takeOver(scope, died, renewed)).toBe(false);
  await records.complete(scope, died, { dispatchId: 'died' }, signal);
  await expect(run()).rejects.toMatchObject({ code: 'request_in_progress' });
  await records.complete(scope, renewed, { dispatchId: 'died' }, signal);
  expect(await run()).toEqual({ dispatchId: 'died' });
});

function recordOf(dispatchId: string): IdempotencyRecord {
  return { bodyHash: 'hash', dispatchId, startedAtMs: startMs, state: 'running' };
}

describe('a store in trouble', () => {
  test('a claim whose reply is lost is recognised as our own', async () => {
    const { run, accepted } = setup(({ number }) => (number === 1 ? 'after' : undefined));
    await run();
    expect(accepted).toHaveLength(1);
  });

  test('a completion that cannot be written does not undo the acceptance, and is logged', async () => {
    const { run, accepted } = setup(({ command }) => (command === 'UpdateItemCommand' ? 'before' : undefined));
    expect(await run()).toMatchObject({ dispatchId: accepted[0] });
    expect(logged()).toMatchObject([
      { event: 'idempotency.write_failed', dispatchId: accepted[0], error: 'TimeoutError' },
    ]);
  });

  test('a removal that cannot be written leaves the refusal as it is, and is logged', async () => {
    const { run } = setup(({ command }) => (command === 'DeleteItemCommand' ? 'before' : undefined));
    await expect(run({ a: 1 }, () => Promise.reject(refused))).rejects.toBe(refused);
    expect(logged()).toMatchObject([{ event: 'idempotency.write_failed' }]);
  });

  test('a completion or a removal that was given up is not waited for', async () => {
    const { records, scope } = setup();
    await expect(records.complete(scope, recordOf('J'), { dispatchId: 'J' }, AbortSignal.abort())).rejects.toThrow(
      'aborted',
    );
    await expect(records.remove(scope, 'J', AbortSignal.abort())).rejects.toThrow('aborted');
  });

  test('without a claim nothing is accepted', async () => {
    const { run, accepted } = setup(() => 'before');
    await expect(run()).rejects.toThrow('injected fault');
    expect(accepted).toEqual([]);
  });
});

describe('a record is changed by whose it is (R21)', () => {
  const signal = new AbortController().signal;
  const [first, second] = [recordOf('first'), recordOf('second')];

  async function claimed() {
    const { records, scope } = setup();
    expect(await records.claim(scope, first)).toBeUndefined();
    // The next claim shows the owner.
    return { records, scope, whose: () => records.claim(scope, recordOf('the next')) };
  }

  test('the place of a run that has ended meanwhile is not taken', async () => {
    const { records, scope, whose } = await claimed();
    await records.complete(scope, first, { dispatchId: 'first', warning: 'a warning' }, signal);
    expect(await records.takeOver(scope, first, second)).toBe(false);
    expect(await whose()).toEqual({ ...first, state: 'done', warning: 'a warning' });
  });

  test('a run that was replaced neither completes nor removes', async () => {
    const { records, scope, whose } = await claimed();
    await records.takeOver(scope, first, second);
    await records.complete(scope, first, { dispatchId: 'first' }, signal);
    expect(await whose()).toEqual(second);
    await records.remove(scope, 'first', signal);
    expect(await whose()).toEqual(second);
  });

  test('what is done is not removed', async () => {
    const { records, scope, whose } = await claimed();
    await records.complete(scope, first, { dispatchId: 'first' }, signal);
    await records.remove(scope, 'first', signal);
    expect(await whose()).toEqual({ ...first, state: 'done' });
  });
});

test('the item carries no key of the client and expires in seconds', async () => {
  const { run, scope } = setup();
  await run();
  const pk = `IDEMPOTENCY#1001#5491100000001#${createHash('sha256').update(scope.key).digest('base64url')}`;
  const { Item } = await localDocumentClient().send(
    new GetCommand({ TableName: table, Key: { pk, sk: 'IDEMPOTENCY' } }),
  );
  expect(Item).toMatchObject({ expiresAtSeconds: (startMs + rememberedMs) / 1_000, state: 'done' });
  expect(JSON.stringify(Item)).not.toContain(scope.key);
});

/** Runs and moments are few, so that they collide. */
const anyRun: fc.Arbitrary<IdempotencyRecord> = fc.record({
  ...{ bodyHash: fc.constantFrom('one', 'other'), dispatchId: fc.constantFrom('A', 'B') },
  ...{ startedAtMs: fc.constantFrom(startMs, startMs + 1, startMs + rememberedMs), state: fc.constant('running') },
  retries: fc.constantFrom(undefined, [0], [9_999, 1]),
});
const anyKept = fc.constantFrom(undefined, startMs, startMs + 1);
const anyWrite = fc.record({
  ...{ name: fc.constantFrom('claim', 'takeOver', 'complete', 'remove'), one: anyRun, other: anyRun },
  warning: fc.constantFrom(undefined, 'a warning'),
});

test('every write of a key does what the model of the explorations does', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(anyWrite, { minLength: 1, maxLength: 12 }), anyKept, async (writes, keptUntilMs) => {
      const { scope: own, records } = setup();
      const scope = { ...own, keptUntilMs };
      let known: IdempotencyRecord | undefined;
      for (const { name, one, other, warning } of writes) {
        const accepted = { dispatchId: one.dispatchId, warning };
        const given = { claim: [one], takeOver: [one, other], complete: [one, accepted], remove: [one.dispatchId] }[
          name
        ];
        const write = (records as unknown as Record<string, (...args: unknown[]) => Promise<unknown>>)[name];
        const { item, value } = writtenBy(keyWrites, name, known, [scope, ...given]);
        expect(await write?.(scope, ...given)).toEqual(value);
        known = item;
      }
      expect(await records.find(scope)).toEqual(known);
    }),
    { numRuns: 60 },
  );
});

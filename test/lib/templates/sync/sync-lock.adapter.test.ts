import { GetCommand } from '@aws-sdk/lib-dynamodb';
import fc from 'fast-check';
import { beforeAll, expect, test } from 'vitest';
import {
  clockSkewMs,
  type HeldLock,
  heartbeatEveryMs,
  leaseMs,
  type SyncLocks,
} from '../../../../lib/templates/sync/sync-lock.ts';
import { syncLockStore } from '../../../../lib/templates/sync/sync-lock-store.ts';
import { injectFaults } from '../../../support/dynamo-faults.ts';
import { lagReads } from '../../../support/lagging-reads.ts';
import { injectFaults as interleave } from '../../../support/queue-faults.ts';
import { freshTable, localDocumentClient } from '../../../support/stores.ts';

const documentClient = localDocumentClient();
let table: string;
beforeAll(async () => {
  table = await freshTable('templates');
});
const locks = () => onePerOwner(syncLockStore(documentClient, table));

/** Every owner is a contender of its own unless a test says otherwise. */
function onePerOwner({ acquire, heartbeat, release }: SyncLocks) {
  return {
    acquire: (request: {
      readonly name: string;
      readonly owner: string;
      readonly contender?: string;
      readonly nowMs: number;
    }) => acquire({ contender: request.owner, ...request }),
    heartbeat,
    release: (lock: HeldLock, nowMs = 0) => release(lock, nowMs),
  };
}

let lastLock = 0;
const newName = () => `sync#test-${++lastLock}`;

async function storedLock(name: string) {
  const { Item } = await documentClient.send(
    new GetCommand({ TableName: table, Key: { pk: `LOCK#${name}`, sk: 'LOCK' }, ConsistentRead: true }),
  );
  return Item;
}

async function held(name: string, owner: string, nowMs: number): Promise<HeldLock> {
  const lock = await locks().acquire({ name, owner, nowMs });
  if (lock === undefined) throw new Error('the lock is not free');
  return lock;
}

test('a refused request costs one read and one write, or none when it is remembered already', async () => {
  const name = newName();
  await held(name, 'holder', 0);
  const client = localDocumentClient();
  const attempts = injectFaults(client, () => undefined);
  const ask = (contender: string, nowMs: number) =>
    syncLockStore(client, table).acquire({ name, owner: `${contender} at ${nowMs}`, contender, nowMs });
  for (const [contender, nowMs] of [
    ['b', 1],
    ['b', 2],
    ['holder', 3],
    ['b', 2_000],
  ] as const) {
    expect(await ask(contender, nowMs)).toBeUndefined();
  }
  expect(Object.fromEntries(attempts)).toEqual({ GetItemCommand: 4, PutItemCommand: 2 });
  expect((await storedLock(name))?.['waiting']).toEqual({ b: { sinceRun: 1, askedAtMs: 2_000 } });
});

test.each([
  [11, { owner: 'late', fence: 12 }],
  [12, undefined],
])('an acquisition that others were ahead of %i times: %j', async (times, acquired) => {
  const name = newName();
  const client = localDocumentClient();
  let ahead = 0;
  interleave(client, async ({ command }) => {
    if (command !== 'PutItemCommand' || ahead === times) return undefined;
    ahead += 1;
    await locks().release(await held(name, `other ${ahead}`, 0), 0);
    return undefined;
  });
  const lock = await onePerOwner(syncLockStore(client, table, async () => {})).acquire({
    name,
    owner: 'late',
    nowMs: 0,
  });
  expect([ahead, lock]).toEqual([times, acquired && { name, ...acquired }]);
});

test('a holder whose renewal others are ahead of again and again fails, and has not lost the lock', async () => {
  const name = newName();
  const lock = await held(name, 'holder', 0);
  const client = localDocumentClient();
  let ahead = 0;
  interleave(client, async ({ command }) => {
    if (command !== 'PutItemCommand') return undefined;
    ahead += 1;
    await locks().acquire({ name, owner: `other ${ahead}`, nowMs: 1 });
    return undefined;
  });
  const busy = syncLockStore(client, table, async () => {});
  await expect(busy.heartbeat(lock, 1)).rejects.toThrow(`the lock ${name} could not be changed`);
  expect(ahead).toBe(12);
  expect(await locks().heartbeat(lock, 1)).toBe(true);
});

/** Runs `first` right before the store's next write. */
function storeAfter(first: () => Promise<unknown>) {
  const client = localDocumentClient();
  let done = false;
  interleave(client, async ({ command }) => {
    if (command !== 'PutItemCommand' || done) return undefined;
    done = true;
    await first();
    return undefined;
  });
  return syncLockStore(client, table);
}

test('a lease that its holder renews while another is about to take the lock over stays the holder’s (R25)', async () => {
  const name = newName();
  const slow = await held(name, 'slow', 0);
  const nowMs = leaseMs + clockSkewMs + 1;
  const store = storeAfter(() => locks().heartbeat(slow, nowMs));
  expect(await store.acquire({ name, owner: 'next', contender: 'next', nowMs })).toBeUndefined();
  expect(await storedLock(name)).toMatchObject({ lease: { owner: 'slow', untilMs: nowMs + leaseMs }, fence: 1 });
});

test('a refused contender that has had the lock before its refusal is written down is not remembered', async () => {
  const name = newName();
  const holder = await held(name, 'holder', 0);
  const store = storeAfter(async () => {
    await locks().release(holder, 1);
    await held(name, 'b', 2);
  });
  expect(await store.acquire({ name, owner: 'b too', contender: 'b', nowMs: 1 })).toBeUndefined();
  expect(await storedLock(name)).toMatchObject({ lease: { owner: 'b' }, fence: 2 });
  expect((await storedLock(name))?.['waiting']).toEqual({});
});

test('a run is renewed and ended by its owner only (R26)', async () => {
  const name = newName();
  const lock = await held(name, 'holder', 0);
  expect(await locks().heartbeat({ ...lock, owner: 'other' }, 1)).toBe(false);
  await locks().release({ ...lock, owner: 'other' }, 1);
  expect(await storedLock(name)).toMatchObject({ lease: { owner: 'holder', untilMs: leaseMs } });
});

test('a crashed holder is replaced within a minute, but not while its lease may still run (R27)', async () => {
  const name = newName();
  await held(name, 'crashed', 1_000);
  const freeFrom = 1_000 + leaseMs + clockSkewMs;
  expect(freeFrom).toBeLessThan(1_000 + 60_000);
  expect(await locks().acquire({ name, owner: 'early', nowMs: freeFrom - 1 })).toBeUndefined();
  expect(await locks().acquire({ name, owner: 'next', nowMs: freeFrom })).toEqual({
    name,
    owner: 'next',
    fence: 2,
  });
});

test('heartbeats keep a lock for as long as they come, with clocks 5 s apart (R27)', async () => {
  const name = newName();
  const lock = await held(name, 'busy', 0);
  for (let now = 0; now < 10 * heartbeatEveryMs; now += heartbeatEveryMs) {
    expect(await locks().heartbeat(lock, now - clockSkewMs)).toBe(true);
    const aheadMs = now + heartbeatEveryMs + clockSkewMs;
    expect(await locks().acquire({ name, owner: 'contender', nowMs: aheadMs })).toBeUndefined();
  }
});

test('a holder that was replaced can neither renew nor release (R26)', async () => {
  const name = newName();
  const old = await held(name, 'paused', 0);
  const current = await held(name, 'next', leaseMs + clockSkewMs + 1);
  expect(await locks().heartbeat(old, 100_000)).toBe(false);
  await locks().release(old);
  expect(await locks().acquire({ name, owner: 'third', nowMs: leaseMs + clockSkewMs + 2 })).toBeUndefined();
  expect(await locks().heartbeat(current, 100_000)).toBe(true);
});

test('a lock that was given back is free at once, however late reads may be', async () => {
  const name = newName();
  const lagging = localDocumentClient();
  lagReads(lagging);
  const store = onePerOwner(syncLockStore(lagging, table));
  const lock = await held(name, 'done', 0);
  expect(await store.acquire({ name, owner: 'next', nowMs: 1 })).toBeUndefined();
  await locks().release(lock, 2);
  expect(await store.acquire({ name, owner: 'next', nowMs: 3 })).toMatchObject({ fence: 2 });
});

test('a lost reply to the acquisition: the repetition recognises its own lock (R27)', async () => {
  const name = newName();
  const client = localDocumentClient();
  const attempts = injectFaults(client, (_, attempt) => (attempt === 1 ? { kind: 'lose_reply' } : undefined));
  const lock = await onePerOwner(syncLockStore(client, table)).acquire({ name, owner: 'me', nowMs: 0 });
  expect(lock).toEqual({ name, owner: 'me', fence: 1 });
  expect(attempts.get('PutItemCommand')).toBe(2);
  expect(await locks().acquire({ name, owner: 'other', nowMs: 1 })).toBeUndefined();
});

test('a lost reply, and another refused before the repetition: the lock is told as had already (R27)', async () => {
  const name = newName();
  const client = localDocumentClient();
  interleave(client, async ({ number }) => {
    if (number === 3) expect(await locks().acquire({ name, owner: 'other', nowMs: 0 })).toBeUndefined();
    return number === 2 ? 'after' : undefined;
  });
  const lock = await onePerOwner(syncLockStore(client, table)).acquire({ name, owner: 'me', nowMs: 0 });
  expect(lock).toEqual({ name, owner: 'me', fence: 1, again: true });
});

type Step =
  | { readonly kind: 'acquire' | 'heartbeat' | 'release'; readonly who: number }
  | { readonly kind: 'wait'; readonly ms: number };

const anyStep: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ kind: fc.constantFrom('acquire' as const, 'heartbeat' as const, 'release' as const), who: fc.nat(2) }),
  fc.record({ kind: fc.constant('wait' as const), ms: fc.constantFrom(1, 14_000, 40_000, 60_000) }),
);

test('over any history the fence only grows, the item stays, and only the latest holder can renew (R28)', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(anyStep, { minLength: 5, maxLength: 25 }), async (steps) => {
      const name = newName();
      const mine = new Map<number, HeldLock>();
      let now = 1_000_000;
      let highest = 0;
      for (const step of steps) {
        if (step.kind === 'wait') {
          now += step.ms;
          continue;
        }
        const lock = mine.get(step.who);
        if (step.kind === 'acquire') {
          const acquired = await locks().acquire({ name, owner: `owner ${step.who}`, nowMs: now });
          if (acquired !== undefined) mine.set(step.who, acquired);
        } else if (lock !== undefined && step.kind === 'heartbeat') {
          const renewed = await locks().heartbeat(lock, now);
          expect(renewed && lock.fence < highest).toBe(false);
        } else if (lock !== undefined) {
          await locks().release(lock, now);
        }
        const stored = await storedLock(name);
        const fence = Number(stored?.['fence'] ?? 0);
        expect(fence).toBeGreaterThanOrEqual(highest);
        expect(fence === highest || fence === highest + 1).toBe(true);
        highest = fence;
      }
    }),
    { numRuns: 40 },
  );
});

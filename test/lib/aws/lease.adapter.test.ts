import { UpdateCommand } from '@aws-sdk/lib-dynamodb';
import fc from 'fast-check';
import * as v from 'valibot';
import { expect, test } from 'vitest';
import { conditionalWrite } from '../../../lib/aws/conditional-write.ts';
import { type ItemWrite, updateOf } from '../../../lib/aws/item-write.ts';
import { blockingLease, heldLease, isOwnLease, type Lease, LeaseSchema, mayTakeLease } from '../../../lib/aws/lease.ts';
import { freshTable, localDocumentClient } from '../../support/stores.ts';
import { thorough } from '../../support/thorough.ts';

const lease: Lease = { owner: 'a', untilMs: 100 };

test.each<readonly [string, Lease | undefined, string, number, boolean]>([
  ['another’s', lease, 'b', 99, true],
  ['another’s, over', lease, 'b', 100, false],
  ['one’s own', lease, 'a', 99, false],
  ['one’s own, over', lease, 'a', 101, false],
  ['no', undefined, 'b', 0, false],
])('%s lease: %j is in the way of %s at %i: %j', (_, found, owner, nowMs, isInTheWay) => {
  expect(blockingLease(found, owner, nowMs)).toEqual(isInTheWay ? found : undefined);
});

test('a lease is held until its time, by its owner too, and has all that stands in it', () => {
  const withMore = { ...lease, messages: ['m1'] };
  expect([heldLease(withMore, 99), heldLease(withMore, 100), heldLease(undefined, 0)]).toEqual([
    withMore,
    undefined,
    undefined,
  ]);
  expect(blockingLease(withMore, 'b', 99)?.messages).toEqual(['m1']);
});

test('what is stored is a lease with an owner and a time, or none', () => {
  expect(v.parse(LeaseSchema, lease)).toEqual(lease);
  expect([{ owner: 'a' }, { untilMs: 100 }].map((stored) => v.is(LeaseSchema, stored))).toEqual([false, false]);
});

const client = localDocumentClient();
const table = await freshTable('messages');
const path = 'in.lease';

interface Step {
  readonly does: 'take' | 'renew' | 'give back';
  readonly owner: string;
  readonly atMs: number;
}

/** Returns whether the conditions held. */
async function put(id: string, write: ItemWrite): Promise<boolean> {
  const update = new UpdateCommand({ TableName: table, Key: { pk: id, sk: 'LEASE' }, ...updateOf(write) });
  return (await conditionalWrite(client.send(update))).written;
}

/** Takes the step on the table, and returns whether the condition held. */
async function written(id: string, { does, owner, atMs }: Step): Promise<boolean> {
  const condition = does === 'take' ? mayTakeLease(path, owner, atMs) : isOwnLease(path, owner);
  const change = does === 'give back' ? { remove: [path] } : { set: { [path]: { owner, untilMs: atMs + 10 } } };
  return await put(id, { if: [condition], ...change });
}

/** Returns the lease that the rule gives, and whether it changed. */
function ruled(before: Lease | undefined, { does, owner, atMs }: Step): readonly [Lease | undefined, boolean] {
  const may = does === 'take' ? blockingLease(before, owner, atMs) === undefined : before?.owner === owner;
  if (!may) return [before, false];
  return [does === 'give back' ? undefined : { owner, untilMs: atMs + 10 }, true];
}

/** Owners and times are few, so that they collide, also in the same millisecond. */
const step: fc.Arbitrary<Step> = fc.record({
  does: fc.constantFrom('take', 'take', 'renew', 'give back'),
  owner: fc.constantFrom('a', 'b', 'c'),
  atMs: fc.constantFrom(0, 1, 9, 10, 11, 20),
});

let items = 0;

test('the conditions write what the rule says; no run takes what another holds, or renews what it lost', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 12 }), async (steps) => {
      items += 1;
      const id = `L${items}`;
      await put(id, { if: [], set: { in: {} } });
      let found: Lease | undefined;
      for (const each of steps) {
        const [after, isChanged] = ruled(found, each);
        expect([each, await written(id, each)]).toEqual([each, isChanged]);
        if (isChanged && each.does !== 'give back' && found?.owner !== each.owner) {
          expect([each.does, heldLease(found, each.atMs)]).toEqual(['take', undefined]);
        }
        found = after;
      }
    }),
    { numRuns: thorough ? 200 : 40 },
  );
});

test('what is leased first has no item yet', async () => {
  expect(await put('FIRST', { if: [mayTakeLease('lease', 'a', 0)], set: { lease } })).toBe(true);
});

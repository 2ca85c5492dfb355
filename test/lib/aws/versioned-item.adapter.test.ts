import { beforeAll, expect, test } from 'vitest';
import { changeVersioned, readVersioned, type VersionedItem } from '../../../lib/aws/versioned-item.ts';
import { type FaultPlan, injectFaults } from '../../support/faults.ts';
import { freshTable, localDocumentClient } from '../../support/stores.ts';

/** Many writers change one counter; each adds its own name once. */

interface Names {
  readonly names: readonly string[];
}

let table: string;
beforeAll(async () => {
  table = await freshTable('messages');
});

function counter(sk: string, plan: FaultPlan = () => undefined) {
  const client = localDocumentClient();
  const { attempts } = injectFaults(client, plan);
  const item: VersionedItem<Names> = {
    ...{ table: { client, name: table }, key: { pk: 'COUNTER', sk } },
    stateOf: (found) => ({ names: found === undefined ? [] : (found['names'] as string[]) }),
    itemOf: ({ names }) => ({ names }),
  };
  return { item, attempts };
}

const adds = (name: string) => (before: Names) => ({ state: { names: [...before.names, name] }, result: name });
const options = { mostTries: 40, pause: async () => {} };
const stored = async (sk: string) => await readVersioned(counter(sk).item, { consistent: true });

test('the first write begins at nothing; a state that stays is not written', async () => {
  const { item, attempts } = counter('first');
  expect(await changeVersioned(item, adds('a'), options)).toEqual({ state: { names: ['a'] }, version: 1, result: 'a' });
  const same = await changeVersioned(item, (state) => ({ state, result: 7 }), options);
  expect(same).toEqual({ state: { names: ['a'] }, version: 1, result: 7 });
  expect(attempts.map(({ command }) => command)).toEqual(['GetItemCommand', 'PutItemCommand', 'GetItemCommand']);
});

test('of twenty writers at once each is asked with what the others left', async () => {
  const names = Array.from({ length: 20 }, (_, at) => `w${at}`);
  await Promise.all(names.map((name) => changeVersioned(counter('crowd').item, adds(name), options)));
  const { state, version } = await stored('crowd');
  expect(state.names.toSorted()).toEqual(names.toSorted());
  expect(version).toBe(20);
});

test('a writer that saw an old state costs one more write, and no read', async () => {
  const { item, attempts } = counter('old');
  const seen = await readVersioned(item, { consistent: true });
  await changeVersioned(counter('old').item, adds('other'), options);
  expect(await changeVersioned(item, adds('mine'), { ...options, seen })).toMatchObject({ version: 2 });
  expect(attempts.map(({ command }) => command)).toEqual(['GetItemCommand', 'PutItemCommand', 'PutItemCommand']);
});

test('a write whose reply was lost is recognised when the SDK repeats it', async () => {
  const { item } = counter('lost', ({ number }) => (number === 2 ? { kind: 'lose_reply' } : undefined));
  expect(await changeVersioned(item, adds('once'), options)).toMatchObject({ version: 1, result: 'once' });
  expect((await stored('lost')).state.names).toEqual(['once']);
});

test('a writer that is always too late gives up, and nothing of its is written', async () => {
  const { item } = counter('beaten');
  await changeVersioned(counter('beaten').item, adds('first'), options);
  const seen = { state: { names: [] }, version: 7 };
  expect(await changeVersioned(item, adds('mine'), { ...options, mostTries: 1, seen })).toBeUndefined();
  expect((await stored('beaten')).state.names).toEqual(['first']);
});

test('an item of another form is no state', async () => {
  const { item } = counter('form');
  const broken: VersionedItem<Names> = {
    ...item,
    itemOf: () => ({}),
    stateOf: (found) => {
      if (found !== undefined) throw new Error('another form');
      return { names: [] };
    },
  };
  await changeVersioned(broken, adds('a'), options);
  await expect(readVersioned(broken, { consistent: true })).rejects.toThrow('another form');
});

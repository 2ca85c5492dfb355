import { DeleteCommand, type DynamoDBDocumentClient, GetCommand, PutCommand, ScanCommand } from '@aws-sdk/lib-dynamodb';
import { beforeEach, describe, expect, test } from 'vitest';
import { type BackfillResult, backfill, type MissingAttributes } from '../../../infra/operate/backfill.ts';
import { freshTable, localDocumentClient } from '../../support/stores.ts';

/*
 * infra/TABLES.md has this example: an index by `name` becomes a case-insensitive index by `folded`. Four versions of
 * the code follow each other, and two neighbouring versions always run side by side.
 */

const client: DynamoDBDocumentClient = localDocumentClient();
let table: string;
beforeEach(async () => {
  table = await freshTable('credentials');
});

const folded = (name: string) => name.toLowerCase();
const write = (pk: string, item: object) => client.send(new PutCommand({ TableName: table, Item: { pk, ...item } }));
const read = async (pk: string) =>
  (await client.send(new GetCommand({ TableName: table, Key: { pk }, ConsistentRead: true }))).Item ?? {};

/** `know` is how a version reads an item. */
const versions = [
  { writes: 'old', write: (pk: string, name: string) => write(pk, { name }), know: (item: Item) => folded(item.name) },
  {
    writes: 'both, reads the old',
    write: (pk: string, name: string) => write(pk, { name, folded: folded(name) }),
    know: (item: Item) => folded(item.name),
  },
  {
    writes: 'both, reads the new',
    write: (pk: string, name: string) => write(pk, { name, folded: folded(name) }),
    know: (item: Item) => item.folded,
  },
  {
    writes: 'new',
    write: (pk: string, name: string) => write(pk, { folded: folded(name) }),
    know: (item: Item) => item.folded,
  },
] as const;
type Item = { readonly name: string; readonly folded: string };

const lacking: MissingAttributes = (item) =>
  typeof item['name'] === 'string' && item['folded'] === undefined
    ? { set: { folded: folded(item['name']) }, from: ['name'] }
    : undefined;

const filling = { lacking, pause: async () => undefined };

async function all(): Promise<Item[]> {
  return ((await client.send(new ScanCommand({ TableName: table, ConsistentRead: true }))).Items ?? []) as Item[];
}

/** Repeats bounded runs, as an operator starts them. */
async function filledIn(limitItems: number, meanwhile: (run: number) => Promise<unknown> = async () => undefined) {
  const runs: BackfillResult[] = [];
  let after: BackfillResult['next'];
  do {
    const run = await backfill(client, { table, ...filling, limitItems, after });
    runs.push(run);
    after = run.next;
    await meanwhile(runs.length);
  } while (after !== undefined);
  return runs;
}

describe.each([0, 1, 2])('step %i', (step) => {
  test('versions that run side by side know what the other has written', async () => {
    const [before, after] = [versions[step], versions[step + 1]];
    if (before === undefined || after === undefined) throw new Error('no such version');
    await before.write('u1', 'Ana');
    await after.write('u2', 'LUIS');
    // No version reads the new attribute before every item has it.
    if (step === 1) await filledIn(10);
    for (const version of [before, after]) {
      expect([version.know((await read('u1')) as Item), version.know((await read('u2')) as Item)]).toEqual([
        'ana',
        'luis',
      ]);
    }
  });
});

describe('the backfill', () => {
  const users = Array.from({ length: 25 }, (_, index) => `User${index}`);
  beforeEach(async () => {
    for (const name of users) await versions[0].write(name, name);
  });

  test('adds the missing attribute to every item, some at a time, and ends', async () => {
    const runs = await filledIn(10);
    for (const { looked } of runs) expect(looked).toBeLessThanOrEqual(10);
    expect(runs.reduce((sum, { filled }) => sum + filled, 0)).toBe(25);
    const items = await all();
    expect(items.map((item) => item.folded).toSorted()).toEqual(items.map(({ name }) => folded(name)).toSorted());
  });

  test('takes tables with a sort key too', async () => {
    const rows = await freshTable('channels');
    for (const sk of ['a', 'b']) {
      await client.send(new PutCommand({ TableName: rows, Item: { pk: 'p', sk, name: sk.toUpperCase() } }));
    }
    const run = await backfill(client, { table: rows, ...filling, limitItems: 1 });
    expect(run).toMatchObject({ looked: 1, filled: 1, passed: 0, next: { pk: 'p', sk: 'a' } });
    const { Items } = await client.send(new ScanCommand({ TableName: rows, ConsistentRead: true }));
    expect(Items).toEqual([
      { pk: 'p', sk: 'a', name: 'A', folded: 'a' },
      { pk: 'p', sk: 'b', name: 'B' },
    ]);
  });

  test('repeated writes nothing', async () => {
    await filledIn(100);
    expect(await filledIn(100)).toEqual([{ looked: 25, filled: 0, passed: 0 }]);
  });

  test('goes on after a run that died half way, from where that began', async () => {
    let calls = 0;
    const dying: MissingAttributes = (item) => {
      calls += 1;
      if (calls === 7) throw new Error('died');
      return lacking(item);
    };
    await expect(backfill(client, { table, ...filling, lacking: dying, limitItems: 100 })).rejects.toThrow('died');
    expect((await all()).filter((item) => item.folded !== undefined)).toHaveLength(6);
    expect(await filledIn(100)).toEqual([{ looked: 25, filled: 19, passed: 0 }]);
  });

  test.each([
    ['changed', (pk: string) => versions[1].write(pk, 'Changed'), 'changed'],
    ['changed by a version that does not know the attribute', (pk: string) => versions[0].write(pk, 'Old'), undefined],
    ['deleted', (pk: string) => client.send(deletion(pk)), 'gone'],
  ])('leaves to its writer what was %s after it was read', async (_, change, expected) => {
    const last = ((await client.send(new ScanCommand({ TableName: table }))).Items ?? []).at(-1)?.['pk'] as string;
    const interrupted = localDocumentClient();
    let isChanged = false;
    interrupted.middlewareStack.add(
      (next, context) => async (args) => {
        // Another writer changes the last item after the page is read and before its first item is written.
        if (context['commandName'] === 'UpdateItemCommand' && !isChanged) {
          isChanged = true;
          await change(last);
        }
        return await next(args);
      },
      { step: 'deserialize' },
    );
    expect(await backfill(interrupted, { table, ...filling, limitItems: 100 })).toMatchObject({
      filled: 24,
      passed: 1,
    });
    expect(isChanged).toBe(true);
    const item = await read(last);
    expect(expected === 'gone' ? item : item['folded']).toEqual(expected === 'gone' ? {} : expected);
  });
});

function deletion(pk: string) {
  return new DeleteCommand({ TableName: table, Key: { pk } });
}

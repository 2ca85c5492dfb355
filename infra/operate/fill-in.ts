import { type DynamoDBDocumentClient, ScanCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { conditionalWrite } from '../../lib/aws/conditional-write.ts';

type Item = Readonly<Record<string, unknown>>;

/** What an item lacks, and the attributes it follows from; undefined where nothing is lacking. A pure function. */
export type Lacking = (item: Item) => { readonly set: Item; readonly from: readonly string[] } | undefined;

export interface FillIn {
  readonly table: string;
  readonly lacking: Lacking;
  /** Items that one run looks at, at most: what it may cost. */
  readonly limitItems: number;
  /** Where the run before has ended; from the beginning when absent. */
  readonly after?: Item | undefined;
  readonly pageItems?: number;
  /** Between two pages: leaves the table to those who serve. */
  readonly pause: () => Promise<void>;
}

/** `next` is where the next run goes on; undefined at the end of the table. `passed` had changed meanwhile. */
export interface FilledIn {
  readonly looked: number;
  readonly filled: number;
  readonly passed: number;
  readonly next?: Item;
}

/**
 * One bounded run over a table that gives items what they lack (TABLES.md). An item is written only as it was read: one that
 * somebody has written or deleted meanwhile is theirs, for whoever writes writes the new attribute too. Every run may be
 * repeated, from anywhere; one that throws goes on from where it was begun.
 */
export async function fillIn(client: DynamoDBDocumentClient, run: FillIn): Promise<FilledIn> {
  const { table, limitItems, pageItems = 100, pause } = run;
  let after = run.after;
  let [looked, filled, passed] = [0, 0, 0];
  while (looked < limitItems) {
    if (looked > 0) await pause();
    const { Items = [], LastEvaluatedKey } = await client.send(
      new ScanCommand({
        TableName: table,
        Limit: Math.min(pageItems, limitItems - looked),
        ConsistentRead: true,
        ...(after === undefined ? {} : { ExclusiveStartKey: after }),
      }),
    );
    for (const item of Items) {
      const lack = run.lacking(item);
      if (lack === undefined) continue;
      if (await given(client, table, item, lack)) filled += 1;
      else passed += 1;
    }
    looked += Items.length;
    after = LastEvaluatedKey;
    if (after === undefined) return { looked, filled, passed };
  }
  return { looked, filled, passed, ...(after === undefined ? {} : { next: after }) };
}

async function given(
  client: DynamoDBDocumentClient,
  table: string,
  item: Item,
  { set, from }: NonNullable<ReturnType<Lacking>>,
): Promise<boolean> {
  const names = Object.keys(set);
  const { written } = await conditionalWrite(
    client.send(
      new UpdateCommand({
        TableName: table,
        Key: { pk: item['pk'], ...(item['sk'] === undefined ? {} : { sk: item['sk'] }) },
        UpdateExpression: `SET ${names.map((_, index) => `#s${index} = :s${index}`).join(', ')}`,
        ConditionExpression: [
          ...names.map((_, index) => `attribute_not_exists(#s${index})`),
          ...from.map((_, index) => `#f${index} = :f${index}`),
        ].join(' AND '),
        ExpressionAttributeNames: Object.fromEntries([
          ...names.map((name, index) => [`#s${index}`, name]),
          ...from.map((name, index) => [`#f${index}`, name]),
        ]),
        ExpressionAttributeValues: Object.fromEntries([
          ...names.map((name, index) => [`:s${index}`, set[name]]),
          ...from.map((name, index) => [`:f${index}`, item[name]]),
        ]),
      }),
    ),
  );
  return written;
}

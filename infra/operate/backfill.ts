import { type DynamoDBDocumentClient, ScanCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { conditionalWrite } from '../../lib/aws/conditional-write.ts';

type Item = Readonly<Record<string, unknown>>;

/** Returns what an item lacks, and the attributes it depends on; undefined when nothing is lacking. It is pure. */
export type MissingAttributes = (item: Item) => { readonly set: Item; readonly from: readonly string[] } | undefined;

export interface BackfillRun {
  readonly table: string;
  readonly lacking: MissingAttributes;
  /** One run reads at most these items, which limits its cost. */
  readonly limitItems: number;
  /** The run before ended here; without it the run starts at the beginning. */
  readonly after?: Item | undefined;
  readonly pageItems?: number;
  /** The run calls it between two pages, so that the table has capacity for the service. */
  readonly pause: () => Promise<void>;
}

/** `next` starts the next run; undefined at the end of the table. `passed` counts items that changed meanwhile. */
export interface BackfillResult {
  readonly looked: number;
  readonly filled: number;
  readonly passed: number;
  readonly next?: Item;
}

/**
 * Gives items what they lack, in one bounded run (TABLES.md). An item is written only if it is still as read; another
 * writer of it writes the new attribute anyway. Any run can be repeated.
 */
export async function backfill(client: DynamoDBDocumentClient, run: BackfillRun): Promise<BackfillResult> {
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
  { set, from }: NonNullable<ReturnType<MissingAttributes>>,
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

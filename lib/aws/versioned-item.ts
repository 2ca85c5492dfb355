import { randomUUID } from 'node:crypto';
import { GetCommand, PutCommand } from '@aws-sdk/lib-dynamodb';
import * as v from 'valibot';
import { conditionalWrite } from './conditional-write.ts';
import type { Item } from './dynamodb-batch.ts';
import type { ItemKey } from './item-key.ts';
import type { Pause } from './pause.ts';
import type { Table } from './table.ts';

/** The item has many writers, and a form of its state. */
export interface VersionedItem<State> {
  readonly table: Pick<Table, 'client' | 'name'>;
  readonly key: ItemKey;
  /** Parses the item; undefined stands for none. Throws on an item of another form. */
  readonly stateOf: (item: Item | undefined) => State;
  /** Leaves out key, version and writer. */
  readonly itemOf: (state: State) => Item;
}

/** The version counts a state's writes, and is 0 when nothing is stored. */
export interface Versioned<State> {
  readonly state: State;
  readonly version: number;
}

/** The same state object means no write. */
export interface Changed<State, Result> {
  readonly state: State;
  readonly result: Result;
}

const StampSchema = v.object({ version: v.number(), writer: v.string() });

export async function readVersioned<State>(
  item: VersionedItem<State>,
  { consistent }: { readonly consistent: boolean },
): Promise<Versioned<State>> {
  const { table, key } = item;
  const { Item: found } = await table.client.send(
    new GetCommand({ TableName: table.name, Key: key, ConsistentRead: consistent }),
  );
  return versionedOf(item, found);
}

/**
 * Reads an item, applies a rule and writes by compare-and-set. After a conflict the rule runs again. A retried write
 * with a lost reply is recognised by its writer. Returns undefined after `mostTries`; throws when the table fails.
 */
export async function changeVersioned<State, Result>(
  item: VersionedItem<State>,
  rule: (state: State) => Changed<State, Result>,
  {
    seen,
    mostTries,
    pause,
    newWriter = randomUUID,
  }: {
    /** Without it, a strong read comes first. */
    readonly seen?: Versioned<State> | undefined;
    readonly mostTries: number;
    readonly pause: Pause;
    readonly newWriter?: () => string;
  },
): Promise<(Versioned<State> & { readonly result: Result }) | undefined> {
  let current = seen ?? (await readVersioned(item, { consistent: true }));
  for (let tries = 1; tries <= mostTries; tries += 1) {
    const { state, result } = rule(current.state);
    if (state === current.state) return { ...current, result };
    const next = { state, version: current.version + 1 };
    const existing = await write(item, next, newWriter());
    if (existing === undefined) return { ...next, result };
    if (tries > 1) await pause(tries - 1);
    // After a pause the conflicting state is stale. The first retry is immediate and uses it.
    current = tries === 1 ? versionedOf(item, existing) : await readVersioned(item, { consistent: true });
  }
  return undefined;
}

/** Returns undefined when written, else the conflicting item. */
async function write<State>(
  { table, key, itemOf }: VersionedItem<State>,
  { state, version }: Versioned<State>,
  writer: string,
): Promise<Item | undefined> {
  const put = await conditionalWrite(
    table.client.send(
      new PutCommand({
        TableName: table.name,
        Item: { ...key, ...itemOf(state), version, writer },
        // TTL may have deleted the item, and then nothing can be overwritten.
        ConditionExpression: 'attribute_not_exists(pk) OR version = :seen',
        ExpressionAttributeValues: { ':seen': version - 1 },
        ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
      }),
    ),
  );
  if (put.written) return undefined;
  const stamp = v.parse(StampSchema, put.existing);
  return stamp.version === version && stamp.writer === writer ? undefined : put.existing;
}

function versionedOf<State>({ stateOf }: VersionedItem<State>, item: Item | undefined): Versioned<State> {
  return { state: stateOf(item), version: item === undefined ? 0 : v.parse(StampSchema, item).version };
}

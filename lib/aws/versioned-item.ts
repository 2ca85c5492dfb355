import { randomUUID } from 'node:crypto';
import { type DynamoDBDocumentClient, GetCommand, PutCommand } from '@aws-sdk/lib-dynamodb';
import * as v from 'valibot';
import { conditionalWrite } from './conditional-write.ts';
import type { Item } from './dynamodb-batch.ts';
import type { ItemKey } from './item-key.ts';
import type { Pause } from './pause.ts';

/** Where an item stands that many writers change, and the form in which its state is kept there. */
export interface VersionedItem<State> {
  readonly client: DynamoDBDocumentClient;
  readonly table: string;
  readonly key: ItemKey;
  /** Of no item: the state before the first write. Throws where the item has another form. */
  readonly stateOf: (item: Item | undefined) => State;
  /** Without key, version and writer. */
  readonly itemOf: (state: State) => Item;
}

/** A state, and how many writes have led to it; 0: nothing is stored. */
export interface Versioned<State> {
  readonly state: State;
  readonly version: number;
}

/** What a rule makes of a state: the same state where nothing is to be written. */
export interface Changed<State, Result> {
  readonly state: State;
  readonly result: Result;
}

const StampSchema = v.object({ version: v.number(), writer: v.string() });

export async function readVersioned<State>(
  item: VersionedItem<State>,
  { consistent }: { readonly consistent: boolean },
): Promise<Versioned<State>> {
  const { client, table, key } = item;
  const { Item: found } = await client.send(new GetCommand({ TableName: table, Key: key, ConsistentRead: consistent }));
  return versionedOf(item, found);
}

/**
 * Reads an item, applies a rule, and writes it if it is still as it was (compare-and-set). When another writer was first, the
 * rule is asked again with what that one left: at once the first time, after a pause and a read from then on. A write whose
 * reply was lost, and which the SDK repeats, is recognised by its writer; when another write has come between, the rule is
 * asked a second time. Undefined after `mostTries` in vain. Throws when the table cannot be reached.
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
    /** As it was read before; without it, it is read first, strongly. */
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
    // What was in the way has changed again by the end of a pause.
    current = tries === 1 ? versionedOf(item, existing) : await readVersioned(item, { consistent: true });
  }
  return undefined;
}

/** Undefined when it is written; else what is in the way. */
async function write<State>(
  { client, table, key, itemOf }: VersionedItem<State>,
  { state, version }: Versioned<State>,
  writer: string,
): Promise<Item | undefined> {
  const put = await conditionalWrite(
    client.send(
      new PutCommand({
        TableName: table,
        Item: { ...key, ...itemOf(state), version, writer },
        // TTL may have removed what was seen: then nothing is left that could be overwritten.
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

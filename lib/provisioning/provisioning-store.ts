import {
  DeleteCommand,
  type DynamoDBDocumentClient,
  GetCommand,
  paginateScan,
  UpdateCommand,
} from '@aws-sdk/lib-dynamodb';
import * as v from 'valibot';
import { credentialStore } from '../access/sign-in/credential-store.ts';
import { conditionalWrite } from '../aws/conditional-write.ts';
import { type TransactionAction, transactWrite } from '../aws/dynamodb-batch.ts';
import { type Condition, checkOf, updateOf } from '../aws/item-write.ts';
import { heldLease, isOwnLease, type Lease, LeaseSchema, mayTakeLease } from '../aws/lease.ts';
import { type Pause, storePause } from '../aws/pause.ts';
import { entityOf } from './provisioned-entity.ts';
import { credentialItem, type ProvisionedTable } from './provisioned-items.ts';
import type { ItemChange, StoredItem } from './provisioning-plan.ts';

/** Only the holder of the lock can write. */
export interface ProvisioningStore {
  /** Returns all items of provisioning, with the credentials of their users and of `usernames`, strongly consistent. */
  read(usernames: readonly string[]): Promise<StoredItem[]>;
  /** Throws `ProvisioningUnderWay` while a run holds the lock. */
  assertFree(): Promise<void>;
  /** Takes the lock; throws `ProvisioningUnderWay` while another run holds it. */
  begin(owner: string): Promise<ProvisioningRun>;
}

export interface ProvisioningRun {
  /**
   * Writes in full transactions, in order. Each renews the lock and fails without it: it throws
   * `ProvisioningTakenOver`, and nothing more is written.
   */
  write(changes: readonly ItemChange[]): Promise<void>;
  /** Renews the lock; throws `ProvisioningTakenOver` when it is lost. */
  renew(): Promise<void>;
  end(): Promise<void>;
}

/** Another run is under way, or died; the lock is free at `freeAtMs`. */
export class ProvisioningUnderWay extends Error {
  readonly freeAtMs: number;

  constructor(freeAtMs: number) {
    super('another run of provisioning is under way');
    this.name = 'ProvisioningUnderWay';
    this.freeAtMs = freeAtMs;
  }
}

export class ProvisioningTakenOver extends Error {
  constructor() {
    super('another run of provisioning has taken over');
    this.name = 'ProvisioningTakenOver';
  }
}

export interface ProvisioningTables {
  readonly documentClient: DynamoDBDocumentClient;
  readonly tableName: (table: ProvisionedTable) => string;
  readonly nowMs: () => number;
  readonly pause?: Pause;
}

const lockKey = { pk: 'PROVISIONING', sk: 'LOCK' };
/** A run may pause this long between writes before another may take over. */
const leaseMs = 120_000;
/** DynamoDB takes 100 actions and 4 MB; one action is the lock's. */
const maxChanges = 99;
const maxTransactionCharacters = 2_000_000;

export function provisioningStore(tables: ProvisioningTables): ProvisioningStore {
  return {
    read: (usernames) => readItems(tables, usernames),
    assertFree: async () => {
      const { documentClient, tableName, nowMs } = tables;
      const read = new GetCommand({ TableName: tableName('directory'), Key: lockKey, ConsistentRead: true });
      const held = heldLease(leaseIn((await documentClient.send(read)).Item), nowMs());
      if (held !== undefined) throw new ProvisioningUnderWay(held.untilMs);
    },
    begin: async (owner) => {
      const update = lockUpdate(tables, owner, mayTakeLease('lease', owner, tables.nowMs()));
      const taken = await conditionalWrite(
        tables.documentClient.send(new UpdateCommand({ ...update, ReturnValuesOnConditionCheckFailure: 'ALL_OLD' })),
      );
      if (!taken.written) throw new ProvisioningUnderWay(leaseIn(taken.existing)?.untilMs ?? 0);
      return heldRun(tables, owner);
    },
  };
}

function heldRun(tables: ProvisioningTables, owner: string): ProvisioningRun {
  const { documentClient, tableName, pause = storePause } = tables;
  const writeAll = async (changes: readonly ItemChange[]) => {
    const actions = [{ Update: lockUpdate(tables, owner) }, ...changes.map((change) => actionOf(tables, change))];
    const refused = await transactWrite({ client: documentClient, name: tableName('directory'), pause }, actions);
    if (refused !== undefined) throw new ProvisioningTakenOver();
  };
  return {
    write: async (changes) => {
      for (const transaction of transactionsOf(changes)) await writeAll(transaction);
    },
    renew: () => writeAll([]),
    end: async () => {
      const release = { TableName: tableName('directory'), Key: lockKey, ...checkOf([isOwnLease('lease', owner)]) };
      await conditionalWrite(documentClient.send(new DeleteCommand(release)));
    },
  };
}

function lockUpdate(
  { tableName, nowMs }: ProvisioningTables,
  owner: string,
  condition: Condition = isOwnLease('lease', owner),
) {
  const write = { if: [condition], set: { lease: { owner, untilMs: nowMs() + leaseMs } } };
  return { TableName: tableName('directory'), Key: lockKey, ...updateOf(write) };
}

function leaseIn(item: unknown): Lease | undefined {
  return v.parse(v.object({ lease: v.optional(LeaseSchema) }), item ?? {}).lease;
}

function transactionsOf(changes: readonly ItemChange[]): ItemChange[][] {
  const transactions: ItemChange[][] = [];
  let characters = 0;
  for (const change of changes) {
    const size = JSON.stringify(change).length;
    const current = transactions.at(-1);
    if (current === undefined || current.length === maxChanges || characters + size > maxTransactionCharacters) {
      transactions.push([change]);
      characters = size;
    } else {
      current.push(change);
      characters += size;
    }
  }
  return transactions;
}

/** Attributes unknown to provisioning stay. */
function actionOf(
  { tableName }: ProvisioningTables,
  { table, key, set, whenAbsent = {} }: ItemChange,
): TransactionAction {
  const item = { TableName: tableName(table), Key: key };
  if (set === undefined) return { Delete: item };
  const names = [...Object.keys(set), ...Object.keys(whenAbsent)];
  const values: Readonly<Record<string, unknown>> = { ...whenAbsent, ...set };
  const assignments = names.map((name, index) =>
    name in set ? `#a${index} = :a${index}` : `#a${index} = if_not_exists(#a${index}, :a${index})`,
  );
  return {
    Update: {
      ...item,
      UpdateExpression: `SET ${assignments.join(', ')}`,
      ExpressionAttributeNames: Object.fromEntries(names.map((name, index) => [`#a${index}`, name])),
      ExpressionAttributeValues: Object.fromEntries(names.map((name, index) => [`:a${index}`, values[name]])),
    },
  };
}

/** Scans directory and channels, so that no item is overlooked; an operator's command may do that. */
async function readItems(tables: ProvisioningTables, usernames: readonly string[]): Promise<StoredItem[]> {
  const { documentClient: client, tableName } = tables;
  const items: StoredItem[] = [];
  for (const table of ['directory', 'channels'] as const) {
    for await (const page of paginateScan({ client }, { TableName: tableName(table), ConsistentRead: true })) {
      for (const { pk, sk, ...attributes } of page.Items ?? []) items.push({ table, key: { pk, sk }, attributes });
    }
  }
  const provisioned = items.flatMap((item) => {
    const entity = entityOf(item);
    return entity?.kind === 'user' ? [entity.name] : [];
  });
  const credentials = credentialStore(client, tableName('credentials'));
  for (const username of new Set([...provisioned, ...usernames])) {
    const found = await credentials.find(username);
    if (found !== undefined) {
      items.push(credentialItem({ username, client_id: found.clientId }, found));
    }
  }
  return items;
}

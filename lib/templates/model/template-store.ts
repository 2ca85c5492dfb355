import { DynamoDBServiceException, TransactionCanceledException } from '@aws-sdk/client-dynamodb';
import { type DynamoDBDocumentClient, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import * as v from 'valibot';
import { conditionalWrite } from '../../aws/conditional-write.ts';
import { batchGet, type Item, queryPartition, type TableAccess, transactWrite } from '../../aws/dynamodb-batch.ts';
import type { ItemKey } from '../../aws/item-key.ts';
import { type Pause, storePause } from '../../aws/pause.ts';
import { factKey, isFact, rowKey, rowPartitions, templateKeyOfFact } from './items.ts';
import { rowFromItem, type TemplateRow } from './row.ts';
import { reportSkipped, type SkipReason } from './skipped-template.ts';
import { unpackTemplate, unstorableReason } from './stored-fact.ts';
import { SyncLockLost } from './sync-lock-lost.ts';
import type { StoredFact, TemplateForSending, TemplateOfClient, TemplatesForSending } from './template.ts';
import { templateKey } from './template-key.ts';
import {
  packTransactions,
  refusedUnits,
  type SyncFence,
  type UpstreamWrite,
  type WriteUnit,
  writeUnits,
} from './upstream-writes.ts';

/** Listing and synchronization use it; row.ts has the model. */
export interface TemplateStore extends TemplatesForSending {
  /** Returns every row of a client, strongly consistent (R30), in one round trip up to about 8,000. */
  rowsOf(clientId: number): Promise<TemplateRow[]>;
  /** Returns one template of a WABA for these clients, strongly consistent: one round trip for up to 99 clients. */
  stateOf(templateKey: string, clientIds: readonly number[]): Promise<TemplateState>;
  /** Returns the facts of at most 100 rows, by template key, in one round trip, or two when a fact has just changed. */
  factsOf(rows: readonly TemplateRow[]): Promise<Map<string, StoredFact>>;
  /** Returns the stored facts of at most 100 templates, by template key, strongly consistent. */
  storedFacts(templateKeys: readonly string[]): Promise<Map<string, StoredFact>>;
  /**
   * Stores readings, about 20 templates a request, with `between` before each. Returns the keys with a newer stored
   * reading. Throws `SyncLockLost`, and for an item that the table refuses, unless `onRefused` takes its key.
   */
  writeUpstream(writes: readonly UpstreamWrite[], options?: WriteOptions): Promise<Set<string>>;
  /** Forgets the hidden settings of a code, when the platform's are unknown (D20). */
  forgetSentCode(templateKey: string): Promise<void>;
}

export interface WriteOptions {
  readonly fence?: SyncFence;
  readonly between?: () => Promise<void>;
  readonly onRefused?: (templateKey: string) => void;
}

export interface TemplateState {
  readonly fact?: StoredFact;
  readonly rows: readonly TemplateRow[];
}

const StoredFactSchema = v.object({
  wabaId: v.string(),
  hash: v.string(),
  body: v.instance(Uint8Array),
  deleted: v.boolean(),
  readAtMs: v.number(),
  sinceMs: v.number(),
  asSent: v.boolean(),
  nameHeldUntilMs: v.optional(v.number()),
  sentCode: v.optional(v.object({ platformId: v.string(), hidden: v.string(), ownLabel: v.boolean() })),
});

export function templateStore(
  documentClient: DynamoDBDocumentClient,
  tableName: string,
  pause: Pause = storePause,
): TemplateStore {
  const table: TableAccess = { client: documentClient, name: tableName, pause };
  return {
    find: async (wanted) => templateForSendingIn(await batchGet(table, keysForSending(wanted), { consistent: true })),
    refresh: async ({ wabaId, clientIds, unchangedSinceMs }, template, readAtMs) => {
      const skip = (reason: SkipReason) => reportSkipped([{ platformId: template.id, reason }], { wabaId });
      const obstacle = unstorableReason(template);
      if (obstacle !== undefined) return skip(obstacle);
      const onRefused = () => skip('refused_by_table');
      const write = { kind: 'present', wabaId, clientIds, template, readAtMs } as const;
      if (unchangedSinceMs !== undefined) {
        const inTheWay = await writeUpstream(table, [{ ...write, unchangedSinceMs }], { onRefused });
        if (inTheWay.size === 0) return;
      }
      await writeUpstream(table, [write], { onRefused });
    },
    rowsOf: async (clientId) => {
      const shards = await Promise.all(rowPartitions(clientId).map((partition) => queryPartition(table, partition)));
      return shards.flat().map(rowFromItem);
    },
    stateOf: (key, clientIds) => stateOf(table, key, clientIds),
    factsOf: (rows) => factsOf(table, rows),
    storedFacts: async (keys) => {
      const items = await batchGet(table, keys.map(factKey), { consistent: true });
      return new Map(items.map((item) => [templateKeyOfFact(item['pk']), factFromItem(item).fact]));
    },
    writeUpstream: (writes, options) => writeUpstream(table, writes, options),
    forgetSentCode: async (key) => {
      const where = { TableName: tableName, Key: factKey(key), ConditionExpression: 'attribute_exists(pk)' };
      await conditionalWrite(documentClient.send(new UpdateCommand({ ...where, UpdateExpression: 'REMOVE sentCode' })));
    },
  };
}

/** Returns the keys of all that `templateForSendingIn` reads. */
export function keysForSending({ clientId, ...template }: TemplateOfClient): ItemKey[] {
  const key = templateKey(template);
  return [factKey(key), rowKey(clientId, key)];
}

/** Returns the template that these items are, or undefined when its fact is not among them. */
export function templateForSendingIn(items: readonly Item[]): TemplateForSending | undefined {
  const factItem = items.find(isFact);
  if (factItem === undefined) return undefined;
  const rowItem = items.find((item) => !isFact(item));
  return { fact: factFromItem(factItem).fact, client: rowItem && rowFromItem(rowItem) };
}

/** Every reading is newer, so a caller who needs the platform's own form asks for it. */
const neverRead = 0;

interface HashedFact {
  readonly fact: StoredFact;
  readonly hash: string;
}

/**
 * Reads eventually consistently, for half the price. A fact that does not match its row's hash is read again, strongly
 * consistently, and then it is at least as new as the row.
 */
async function factsOf(table: TableAccess, rows: readonly TemplateRow[]): Promise<Map<string, StoredFact>> {
  const read = await readFacts(table, rows, { consistent: false });
  const stale = rows.filter((row) => read.get(row.templateKey)?.hash !== row.contentHash);
  const reread = await readFacts(table, stale, { consistent: true });
  const facts = new Map<string, StoredFact>();
  for (const { templateKey } of rows) {
    const found = reread.get(templateKey) ?? read.get(templateKey);
    if (found === undefined) throw new Error(`template ${templateKey} has a row and no fact`);
    facts.set(templateKey, found.fact);
  }
  return facts;
}

async function readFacts(
  table: TableAccess,
  rows: readonly TemplateRow[],
  read: { readonly consistent: boolean },
): Promise<Map<string, HashedFact>> {
  const items = await batchGet(
    table,
    rows.map((row) => factKey(row.templateKey)),
    read,
  );
  return new Map(items.map((item) => [templateKeyOfFact(item['pk']), factFromItem(item)]));
}

async function stateOf(table: TableAccess, key: string, clientIds: readonly number[]): Promise<TemplateState> {
  const keys = [factKey(key), ...[...new Set(clientIds)].map((clientId) => rowKey(clientId, key))];
  const items = await batchGet(table, keys, { consistent: true });
  const factItem = items.find(isFact);
  const rows = items.filter((item) => item !== factItem).map(rowFromItem);
  return { rows, fact: factItem && factFromItem(factItem).fact };
}

export function factFromItem(item: Item): HashedFact {
  const { hash, body, readAtMs, sinceMs, asSent, ...stored } = v.parse(StoredFactSchema, item);
  const { wabaId, deleted, nameHeldUntilMs, sentCode } = stored;
  const fact = {
    wabaId,
    template: unpackTemplate(body),
    deleted,
    readAtMs: asSent ? neverRead : readAtMs,
    sinceMs,
    nameHeldUntilMs,
    sentCode,
  };
  return { hash, fact };
}

async function writeUpstream(
  table: TableAccess,
  writes: readonly UpstreamWrite[],
  options: WriteOptions = {},
): Promise<Set<string>> {
  const units = writes.flatMap((write) => writeUnits(table.name, write, options.fence));
  const newer = new Set<string>();
  for (const transaction of packTransactions(units)) {
    for (const key of await writeTogether(table, transaction, options)) newer.add(key);
  }
  return newer;
}

/** Returns the keys with a newer stored reading. */
async function writeTogether(
  table: TableAccess,
  units: readonly WriteUnit[],
  options: WriteOptions,
): Promise<Set<string>> {
  const newer = new Set<string>();
  let pending = units;
  while (pending.length > 0) {
    await options.between?.();
    const actions = pending.flatMap((unit) => unit.actions);
    const reasons = await transactWrite(table, actions).catch((error: unknown) => {
      if (options.onRefused === undefined || !isContentRefused(error)) throw error;
      return 'content_refused' as const;
    });
    if (reasons === undefined) break;
    if (reasons === 'content_refused') {
      for (const key of await writeApart(table, pending, options)) newer.add(key);
      break;
    }
    const refused = refusedUnits(pending, reasons, options.fence);
    if (refused.fenceLost) throw new SyncLockLost();
    for (const unit of refused.newer) newer.add(unit.templateKey);
    pending = pending.filter((unit) => !refused.newer.has(unit));
  }
  return newer;
}

/** The table refuses one of the units: single writes show which. */
async function writeApart(
  table: TableAccess,
  units: readonly WriteUnit[],
  options: WriteOptions,
): Promise<Set<string>> {
  const [unit, ...others] = units;
  if (unit !== undefined && others.length === 0) {
    options.onRefused?.(unit.templateKey);
    return new Set();
  }
  const newer = new Set<string>();
  for (const each of units) for (const key of await writeTogether(table, [each], options)) newer.add(key);
  return newer;
}

/** DynamoDB cancels the whole transaction for one item that is too large or invalid. */
function isContentRefused(error: unknown): boolean {
  if (!(error instanceof TransactionCanceledException)) {
    return error instanceof DynamoDBServiceException && error.name === 'ValidationException';
  }
  return error.CancellationReasons?.some(({ Code }) => Code === 'ValidationError') ?? false;
}

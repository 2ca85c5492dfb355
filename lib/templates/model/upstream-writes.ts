import type { CancellationReason } from '@aws-sdk/client-dynamodb';
import type { TransactionAction } from '../../aws/dynamodb-batch.ts';
import { maxTransactionActions } from '../../aws/dynamodb-limits.ts';
import { omitUndefined } from '../../keys/omit-undefined.ts';
import { factKey, fenceAttribute, heldNameKey, rowKey } from './items.ts';
import { newRowAttributes, upstreamRowAttributes } from './row.ts';
import type { SentOtpSettings } from './sent-otp-settings.ts';
import { contentHash, goneUpstream, packTemplate } from './stored-fact.ts';
import type { PlatformTemplate } from './template.ts';
import { templateKey } from './template-key.ts';

export type UpstreamWrite =
  | {
      readonly kind: 'present';
      readonly wabaId: string;
      readonly template: PlatformTemplate;
      readonly clientIds: readonly number[];
      /** The platform was asked then: an older reading never replaces a newer one. */
      readonly readAtMs: number;
      /**
       * The template is as it was sent, which the platform shows differently, so the next send reads it again. It
       * revives no deleted template and replaces no recreated one.
       */
      readonly asSent?: true;
      /** No reading shows these sent settings (D20); without them, the stored ones stay. */
      readonly sentCode?: SentOtpSettings | undefined;
      /** Status and category are still those stored at this time. If others are stored now, nothing is written. */
      readonly unchangedSinceMs?: number;
    }
  | {
      /** The platform no longer lists it: a tombstone, never erased (D21, D22). */
      readonly kind: 'gone';
      readonly templateKey: string;
      readonly clientIds: readonly number[];
      readonly readAtMs: number;
      /** The platform holds the name of a deleted approved template for a while (D18). */
      readonly nameHeld?: NameHold;
    };

/**
 * The platform holds the name of a deleted template until then: in the deleted language, and in all languages once none
 * is live.
 */
export interface NameHold {
  readonly untilMs: number;
  readonly wabaId: string;
  readonly name: string;
}

/**
 * A synchronization has a fencing number. Each lock has its own attribute, because numbers of two locks cannot be
 * compared.
 */
export interface SyncFence {
  readonly lockName: string;
  readonly fence: number;
}

export interface WriteUnit {
  readonly templateKey: string;
  readonly actions: readonly TransactionAction[];
  readonly bytes: number;
}

const templatesPerTransaction = 20;
/** DynamoDB takes 4 MB. The estimate below errs by far less than the difference. */
const transactionBytes = 3_000_000;
const rowBytes = 1_000;

export function keyOf(write: UpstreamWrite): string {
  return write.kind === 'gone' ? write.templateKey : templateKey({ ...write.template, wabaId: write.wabaId });
}

/**
 * A WABA of more than 99 clients exceeds one transaction, so each slice of rows repeats the fact and its conditions.
 */
export function writeUnits(tableName: string, write: UpstreamWrite, fence: SyncFence | undefined): WriteUnit[] {
  const key = keyOf(write);
  const place = { tableName, key };
  const packed = write.kind === 'present' ? packTemplate(write.template) : new Uint8Array();
  const units: WriteUnit[] = [];
  const name = write.kind === 'gone' && write.nameHeld !== undefined ? [nameAction(tableName, write.nameHeld)] : [];
  const slice = maxTransactionActions - 1 - name.length;
  for (let start = 0; start < Math.max(1, write.clientIds.length); start += slice) {
    const clientIds = write.clientIds.slice(start, start + slice);
    units.push({
      templateKey: key,
      actions: [
        factAction(place, factValues(write, packed), { fence, unchanged: isUnchanged(write) }),
        ...name,
        ...clientIds.map((clientId) => rowAction(place, write, clientId)),
      ],
      bytes: packed.byteLength + rowBytes * (1 + clientIds.length),
    });
  }
  return units;
}

/** Packs units, in order, into transactions of about 20 templates within DynamoDB's 100 actions and 4 MB. */
export function packTransactions(units: readonly WriteUnit[]): WriteUnit[][] {
  const transactions: WriteUnit[][] = [];
  let current: WriteUnit[] = [];
  let actions = 0;
  let bytes = 0;
  for (const unit of units) {
    const full =
      current.length === templatesPerTransaction ||
      actions + unit.actions.length > maxTransactionActions ||
      bytes + unit.bytes > transactionBytes;
    if (full && current.length > 0) {
      transactions.push(current);
      [current, actions, bytes] = [[], 0, 0];
    }
    current.push(unit);
    actions += unit.actions.length;
    bytes += unit.bytes;
  }
  return current.length === 0 ? transactions : [...transactions, current];
}

export function refusedUnits(
  units: readonly WriteUnit[],
  reasons: readonly CancellationReason[],
  fence: SyncFence | undefined,
): { readonly fenceLost: boolean; readonly newer: ReadonlySet<WriteUnit> } {
  const newer = new Set<WriteUnit>();
  let fenceLost = false;
  let index = 0;
  for (const unit of units) {
    for (const _ of unit.actions) {
      const reason = reasons[index++];
      if (reason?.Code !== 'ConditionalCheckFailed') continue;
      newer.add(unit);
      const stored = fence === undefined ? undefined : reason.Item?.[fenceAttribute(fence.lockName)]?.N;
      if (fence !== undefined && stored !== undefined && Number(stored) > fence.fence) fenceLost = true;
    }
  }
  return { fenceLost, newer };
}

function nameAction(tableName: string, { untilMs, ...name }: NameHold): TransactionAction {
  return {
    Update: {
      TableName: tableName,
      Key: heldNameKey(name),
      UpdateExpression: 'SET heldUntilMs = :until',
      ExpressionAttributeValues: { ':until': untilMs },
    },
  };
}

interface Place {
  readonly tableName: string;
  readonly key: string;
}

/** Returns the attributes of a fact that a write sets. */
export function factValues(write: UpstreamWrite, packed: Uint8Array): Record<string, unknown> {
  const { readAtMs } = write;
  if (write.kind === 'gone') {
    const { nameHeld } = write;
    return { deleted: true, readAtMs, sinceMs: readAtMs, ...omitUndefined({ nameHeldUntilMs: nameHeld?.untilMs }) };
  }
  const { wabaId, template, sentCode, unchangedSinceMs: sinceMs = readAtMs } = write;
  const { id: platformId, name, language, status } = template;
  const described = { wabaId, platformId, name, language, status, hash: contentHash(template), body: packed };
  const deleted = goneUpstream(template);
  const asSent = write.asSent === true;
  return { ...described, deleted, readAtMs, sinceMs, asSent, ...omitUndefined({ sentCode }) };
}

function isUnchanged(write: UpstreamWrite): boolean {
  return write.kind === 'present' && write.unchangedSinceMs !== undefined;
}

function factAction(
  { tableName, key }: Place,
  values: Readonly<Record<string, unknown>>,
  { fence, unchanged }: { readonly fence: SyncFence | undefined; readonly unchanged: boolean },
): TransactionAction {
  const conditions = ['(attribute_not_exists(#readAtMs) OR #readAtMs <= :readAtMs)'];
  // A write without a body is only a mark, and must not create an item.
  if (values['body'] === undefined) conditions.push('attribute_exists(pk)');
  const onlyLive = values['asSent'] === true;
  if (onlyLive) {
    conditions.push('#deleted = :live', '#platformId = :platformId');
  }
  if (unchanged) conditions.push('#sinceMs = :sinceMs');
  if (fence !== undefined) conditions.push('(attribute_not_exists(#fence) OR #fence <= :fence)');
  const names = Object.keys(values);
  const settings = names.map((name) => `#${name} = :${name}`);
  if (fence !== undefined) settings.push('#fence = :fence');
  return {
    Update: {
      TableName: tableName,
      Key: factKey(key),
      UpdateExpression: `SET ${settings.join(', ')}`,
      ConditionExpression: conditions.join(' AND '),
      ExpressionAttributeNames: {
        ...Object.fromEntries(names.map((name) => [`#${name}`, name])),
        ...(fence && { '#fence': fenceAttribute(fence.lockName) }),
      },
      ExpressionAttributeValues: {
        ...Object.fromEntries(names.map((name) => [`:${name}`, values[name]])),
        ...(onlyLive ? { ':live': false } : {}),
        ':fence': fence?.fence,
      },
      ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
    },
  };
}

function rowAction({ tableName, key }: Place, write: UpstreamWrite, clientId: number): TransactionAction {
  const item = { TableName: tableName, Key: rowKey(clientId, key) };
  if (write.kind === 'gone') {
    return {
      Update: {
        ...item,
        UpdateExpression: 'SET g = :gone',
        ConditionExpression: 'attribute_exists(pk)',
        ExpressionAttributeValues: { ':gone': true },
      },
    };
  }
  const { set, remove } = upstreamRowAttributes(write.wabaId, write.template);
  const own = Object.keys(newRowAttributes).map((name) => `${name} = if_not_exists(${name}, :${name})`);
  const facts = Object.keys(set).map((name) => `${name} = :${name}`);
  const values = Object.entries({ ...newRowAttributes, ...set });
  return {
    Update: {
      ...item,
      UpdateExpression: `SET ${[...facts, ...own].join(', ')}${remove.length === 0 ? '' : ` REMOVE ${remove.join(', ')}`}`,
      ExpressionAttributeValues: Object.fromEntries(values.map(([name, value]) => [`:${name}`, value])),
    },
  };
}

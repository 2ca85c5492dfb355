import type { Item, TransactionAction } from '../../aws/dynamodb-batch.ts';
import { maxTransactionActions } from '../../aws/dynamodb-limits.ts';
import { archiveKey, factKey, rowKey } from '../model/items.ts';
import {
  encodeDocuments,
  newRowAttributes,
  rowFromItem,
  type TemplateRow,
  upstreamRowAttributes,
} from '../model/row.ts';
import { type SentOtpSettings, sentOtpSettings } from '../model/sent-otp-settings.ts';
import { packTemplate } from '../model/stored-fact.ts';
import type { PlatformTemplate, StoredFact, TemplateDocument } from '../model/template.ts';
import type { Receiver } from '../model/template-event.ts';
import { documentId, parseDocumentId } from '../model/template-key.ts';
import { factValues } from '../model/upstream-writes.ts';

export interface Creation {
  readonly templateKey: string;
  readonly wabaId: string;
  readonly template: PlatformTemplate;
  readonly clientIds: readonly number[];
  readonly readAtMs: number;
  /** The country is ISO 3166-1 alpha-2, from the client's choice or the DID's number. */
  readonly country?: string | undefined;
  readonly creator: {
    readonly clientId: number;
    readonly userId: string;
    readonly pairs: readonly NonNullable<TemplateDocument['pair']>[];
  };
}

export interface BeforeCreation {
  readonly fact?: { readonly item: Item; readonly fact: StoredFact };
  readonly rows: ReadonlyMap<number, Item>;
  /** Until then the platform holds the name in every language, once no live template has it (D18). */
  readonly nameHeldUntilMs?: number;
}

/**
 * Returns the writes of a creation, on condition that nothing has changed since `before`: one transaction for up to 49
 * clients. Deleted documents move into the archive. A synchronization's newer template stays.
 */
export function creationTransactions(creation: Place, before: BeforeCreation): TransactionAction[][] {
  const { creator, clientIds } = creation;
  const others = clientIds.filter((clientId) => clientId !== creator.clientId);
  const groups = [
    [...factActions(creation, before), ...rowActions(creation, before, creator.clientId)],
    ...others.map((clientId) => rowActions(creation, before, clientId)),
  ];
  const transactions: TransactionAction[][] = [];
  for (const group of groups) {
    const last = transactions.at(-1);
    if (last === undefined || last.length + group.length > maxTransactionActions) transactions.push([...group]);
    else last.push(...group);
  }
  return transactions.filter((actions) => actions.length > 0);
}

/** Returns the clients of the WABA, each with its first document. */
export function creationReceivers(
  { templateKey, clientIds }: Pick<Creation, 'templateKey' | 'clientIds'>,
  { rows }: BeforeCreation,
): Receiver[] {
  return clientIds.map((clientId) => {
    const item = rows.get(clientId);
    const row = item === undefined ? undefined : rowFromItem(item);
    const own = row?.deleted === false ? row.documents[0]?.id : undefined;
    const sequence = row?.nextSequence ?? 0;
    return { clientId, templateId: own ?? documentId({ templateKey, clientId, sequence }) };
  });
}

export type Place = Creation & { readonly tableName: string };

function factActions(place: Place, { fact: before }: BeforeCreation): TransactionAction[] {
  const { tableName, templateKey, wabaId, template, readAtMs, country } = place;
  const sentCode = sentOtpSettings(template.id, template.components);
  const written = { kind: 'present', wabaId, template, clientIds: [], readAtMs, asSent: true, sentCode } as const;
  const values = { ...factValues(written, packTemplate(template)), country };
  const created = { TableName: tableName, Item: { ...factKey(templateKey), ...values } };
  if (before === undefined) return [{ Put: { ...created, ConditionExpression: 'attribute_not_exists(pk)' } }];
  if (!before.fact.deleted) return sentCode === undefined ? [] : [sentCodeAction(place, sentCode)];
  const archived = { ...before.item, ...factKey(archiveKey(templateKey, before.fact.template.id)) };
  return [
    { Put: { TableName: tableName, Item: archived } },
    {
      Put: {
        ...created,
        // The fences of earlier synchronizations stay with the key.
        Item: { ...before.item, nameHeldUntilMs: undefined, sentCode: undefined, ...created.Item },
        ConditionExpression: 'deleted = :deleted AND readAtMs = :readAtMs',
        ExpressionAttributeValues: { ':deleted': true, ':readAtMs': before.item['readAtMs'] },
      },
    },
  ];
}

/** A synchronization was faster: its reading stays, and gets the code settings that no reading shows. */
function sentCodeAction({ tableName, templateKey }: Place, sentCode: SentOtpSettings): TransactionAction {
  return {
    Update: {
      TableName: tableName,
      Key: factKey(templateKey),
      UpdateExpression: 'SET sentCode = :sent',
      ConditionExpression: 'attribute_exists(pk)',
      ExpressionAttributeValues: { ':sent': sentCode },
    },
  };
}

function rowActions(place: Place, { rows }: BeforeCreation, clientId: number): TransactionAction[] {
  const { tableName, templateKey, wabaId, template, creator } = place;
  const own = clientId === creator.clientId ? { pairs: creator.pairs, u: creator.userId } : { pairs: [], u: undefined };
  const key = rowKey(clientId, templateKey);
  const facts = upstreamRowAttributes(wabaId, template).set;
  const item = rows.get(clientId);
  const newRow = (sequence: number) => ({
    TableName: tableName,
    Item: { ...key, ...facts, ...newRowAttributes, ...documentsFrom(sequence, own.pairs), u: own.u },
  });
  if (item === undefined) return [{ Put: { ...newRow(0), ConditionExpression: 'attribute_not_exists(pk)' } }];
  const row = rowFromItem(item);
  if (!row.deleted) return own.u === undefined ? [] : [assignment(tableName, row, own)];
  return [
    { Put: { TableName: tableName, Item: { ...item, sk: archiveKey(templateKey, row.platformId) } } },
    {
      Put: {
        ...newRow(row.nextSequence),
        ConditionExpression: 'g = :deleted AND k = :next',
        ExpressionAttributeValues: { ':deleted': true, ':next': row.nextSequence },
      },
    },
  ];
}

type Pairs = Creation['creator']['pairs'];

function documentsFrom(sequence: number, pairs: Pairs): { readonly d: string; readonly k: number } {
  const documents =
    pairs.length === 0 ? [{ sequence }] : pairs.map((pair, index) => ({ sequence: sequence + index, pair }));
  return { d: encodeDocuments(documents), k: sequence + documents.length };
}

/** A synchronization was faster: its placeholder becomes the first pair and keeps its `_id`. */
function assignment(
  tableName: string,
  row: TemplateRow,
  own: { readonly pairs: Pairs; readonly u: string },
): TransactionAction {
  const [placeholder] = row.documents;
  const sequence = parseDocumentId(placeholder?.id ?? '')?.sequence ?? 0;
  const untouched = row.documents.length === 1 && placeholder?.pair === undefined;
  const [first, ...more] = untouched ? own.pairs : [];
  const documents = more.map((pair, index) => ({ sequence: row.nextSequence + index, pair }));
  const assigned = {
    d: encodeDocuments([{ sequence, pair: first }, ...documents]),
    k: row.nextSequence + more.length,
  };
  return {
    Update: {
      TableName: tableName,
      Key: rowKey(row.clientId, row.templateKey),
      UpdateExpression: first === undefined ? 'SET u = :user' : 'SET u = :user, d = :documents, k = :next',
      ConditionExpression: 'k = :nextAsRead',
      ExpressionAttributeValues: {
        ':user': own.u,
        ':nextAsRead': row.nextSequence,
        ':documents': first && assigned.d,
        ':next': first && assigned.k,
      },
    },
  };
}

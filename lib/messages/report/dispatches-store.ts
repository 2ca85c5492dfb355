import { QueryCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import * as v from 'valibot';
import { didPattern } from '../../access/directory.ts';
import { conditionalWrite } from '../../aws/conditional-write.ts';
import { batchGet } from '../../aws/dynamodb-batch.ts';
import type { Table } from '../../aws/table.ts';
import { dispatchesPartition, dispatchKey, dispatchMemorySeconds, timeOfDispatch } from '../dispatch/items.ts';
import { type DispatchPointer, PointerSchema } from '../dispatch/whole-dispatch.ts';
import { boundsOf, type DispatchesQuery, fieldsAskedFor } from './dispatches.ts';

/** Lists are newest first, after the sort key `after`, without forgotten dispatches. */
export interface Dispatches {
  /**
   * Reads a full page of up to `limit` (at most 500), as long as there are more, with one request, or several with a
   * filter.
   */
  listAccepted(question: DispatchesQuery, page: PageRequest): Promise<AcceptedPage>;
  /** Makes one request always: a page may be short or empty without being the last. */
  readAccepted(question: DispatchesQuery, page: PageRequest): Promise<AcceptedPage>;
  /** Marks a dispatch that never again has anything to cancel. Is idempotent. */
  settle(clientId: number, dispatch: Pick<DispatchPointer, 'sk'>): Promise<void>;
  /** Returns the dispatches that were not withdrawn by a later request with the same key, after the first one died. */
  notWithdrawn(accepted: readonly DispatchPointer[]): Promise<readonly DispatchPointer[]>;
}

export interface PageRequest {
  readonly after: string | undefined;
  readonly limit: number;
}

/** `next` is the sort key before the following page; the last one has none. */
export interface AcceptedPage {
  readonly accepted: readonly DispatchPointer[];
  readonly next?: string;
}

const DispatchItemSchema = v.object({ pk: v.string(), withdrawnAtMs: v.optional(v.number()) });

export function dispatchesStore(table: Pick<Table, 'client' | 'name' | 'nowMs' | 'pause'>): Dispatches {
  const { client, nowMs } = table;
  const readAccepted = async (question: DispatchesQuery, { after, limit }: PageRequest): Promise<AcceptedPage> => {
    const { clientId, did } = question;
    // A request may name anything here.
    if (did !== undefined && !didPattern.test(did)) return { accepted: [] };
    const { from, to } = boundsOf(question);
    if (from >= to) return { accepted: [] };
    const pk = dispatchesPartition(clientId);
    const filter = filterOf(question, nowMs());
    const { Items = [], LastEvaluatedKey } = await client.send(
      new QueryCommand({
        TableName: table.name,
        KeyConditionExpression: 'pk = :partition AND sk BETWEEN :from AND :to',
        FilterExpression: filter.expression,
        ExpressionAttributeValues: { ':partition': pk, ':from': from, ':to': to, ...filter.values },
        // A client that just got its 200 finds its dispatch.
        ConsistentRead: true,
        ScanIndexForward: false,
        Limit: isPassed(question, after, nowMs()) ? limit + 1 : mostReadAtOnce,
        ExclusiveStartKey: after === undefined ? undefined : { pk, sk: after },
      }),
    );
    const accepted = Items.slice(0, limit).map((item) => v.parse(PointerSchema, item));
    // One more item shows whether there is a next page.
    const next = Items.length > limit ? accepted.at(-1)?.sk : LastEvaluatedKey?.['sk'];
    return { accepted, next: next === undefined ? undefined : String(next) };
  };

  return {
    readAccepted,

    listAccepted: async (question, { after, limit }) => {
      const accepted: DispatchPointer[] = [];
      let next = after;
      do {
        const page = await readAccepted(question, { after: next, limit: limit + 1 - accepted.length });
        accepted.push(...page.accepted);
        next = page.next;
      } while (next !== undefined && accepted.length <= limit);
      const last = accepted.length > limit ? accepted[limit - 1] : undefined;
      return { accepted: accepted.slice(0, limit), next: last?.sk };
    },

    settle: async (clientId, { sk }) => {
      const update = new UpdateCommand({
        TableName: table.name,
        Key: { pk: dispatchesPartition(clientId), sk },
        UpdateExpression: 'SET settled = :true',
        ConditionExpression: 'attribute_exists(pk)',
        ExpressionAttributeValues: { ':true': true },
      });
      // TTL may have removed it.
      await conditionalWrite(client.send(update));
    },

    notWithdrawn: async (accepted) => {
      const keys = accepted.map(({ dispatchId }) => dispatchKey(dispatchId));
      const items = await batchGet(table, keys, { consistent: false });
      const withdrawn = items
        .map((item) => v.parse(DispatchItemSchema, item))
        .filter(({ withdrawnAtMs }) => withdrawnAtMs !== undefined)
        .map(({ pk }) => pk);
      return accepted.filter(({ dispatchId }) => !withdrawn.includes(dispatchKey(dispatchId).pk));
    },
  };
}

/** When a filter drops most items, a read of this many is half a megabyte. */
const mostReadAtOnce = 2_000;

/** Tells whether nearly all items pass the filter: only times are asked for, and none is near its expiry. */
function isPassed(question: DispatchesQuery, after: string | undefined, nowMs: number): boolean {
  const { unsettled, to: toMs = nowMs } = question;
  const beginsMs = after === undefined ? toMs : timeOfDispatch(after);
  const all = unsettled === undefined && fieldsAskedFor(question).length === 0;
  return all && beginsMs > nowMs - dispatchMemorySeconds * 1_000;
}

function filterOf(question: DispatchesQuery, nowMs: number) {
  const fields = fieldsAskedFor(question);
  const conditions = [
    ...fields.map(([name]) => `${name} = :${name}`),
    // Forgotten dispatches are about to be removed and have no report.
    'forgottenAtMs > :now',
    ...(question.unsettled ? ['attribute_not_exists(settled)'] : []),
  ];
  const values = Object.fromEntries(fields.map(([name, value]) => [`:${name}`, value]));
  return { expression: conditions.join(' AND '), values: { ':now': nowMs, ...values } };
}

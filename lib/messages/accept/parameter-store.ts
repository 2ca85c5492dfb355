import { QueryCommand } from '@aws-sdk/lib-dynamodb';
import * as v from 'valibot';
import type { Item } from '../../aws/dynamodb-batch.ts';
import type { Table } from '../../aws/table.ts';
import type { StoredRecipient } from '../dispatch/head.ts';
import { parametersKey } from '../dispatch/items.ts';
import type { WholeDispatch } from '../dispatch/whole-dispatch.ts';
import { ParametersGone, pagesOf, parametersExpireAtSeconds, recipientsOfPage } from './parameter-pages.ts';

export interface DispatchParameters {
  /**
   * Returns the recipients from `index` (below the dispatch's total) to the end of its page, strongly consistent.
   * Throws `ParametersGone`.
   */
  read(dispatchId: string, index: number): Promise<readonly StoredRecipient[]>;
}

const PageItemSchema = v.object({ sk: v.string(), recipients: v.instance(Uint8Array) });

export function parameterStore(table: Pick<Table, 'client' | 'name'>): DispatchParameters {
  return {
    read: async (dispatchId, index) => {
      const item = await parameterPageAt(table, { dispatchId, index });
      if (item === undefined) throw new ParametersGone();
      const page = v.parse(PageItemSchema, item);
      const recipients = recipientsOfPage(page.recipients).slice(index - Number(page.sk));
      if (recipients.length === 0) throw new ParametersGone();
      return recipients;
    },
  };
}

/**
 * Yields the pages of a dispatch lazily and in order, of 50 write units at most unless one recipient is larger. Throws
 * `RecipientTooLarge`.
 */
export function* parameterItems({ head, recipients }: Pick<WholeDispatch, 'head' | 'recipients'>): Generator<Item> {
  const expiresAtSeconds = parametersExpireAtSeconds(head);
  for (const { firstIndex, ...page } of pagesOf(recipients)) {
    yield { ...parametersKey({ dispatchId: head.dispatchId, index: firstIndex }), ...page, expiresAtSeconds };
  }
}

/** Returns the page that holds a recipient, if stored, strongly consistent. */
export async function parameterPageAt(
  { client, name }: Pick<Table, 'client' | 'name'>,
  recipient: { readonly dispatchId: string; readonly index: number },
): Promise<Item | undefined> {
  const { pk, sk } = parametersKey(recipient);
  const { Items: [page] = [] } = await client.send(
    new QueryCommand({
      TableName: name,
      KeyConditionExpression: 'pk = :pk AND sk <= :sk',
      ExpressionAttributeValues: { ':pk': pk, ':sk': sk },
      ScanIndexForward: false,
      Limit: 1,
      ConsistentRead: true,
    }),
  );
  return page;
}

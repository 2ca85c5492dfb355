import { PutCommand, QueryCommand } from '@aws-sdk/lib-dynamodb';
import * as v from 'valibot';
import { forEachConcurrently } from '../../aws/concurrently.ts';
import type { Item } from '../../aws/dynamodb-batch.ts';
import type { Table } from '../../aws/table.ts';
import type { DispatchHead, Recipient, StoredRecipient } from '../dispatch/head.ts';
import { parametersKey } from '../dispatch/items.ts';
import { ParametersGone, pagesOf, parametersExpireAtSeconds, recipientsOfPage } from './parameter-pages.ts';

export interface DispatchParameters {
  /** Is idempotent. Some pages may be stored when it rejects. Throws `RecipientTooLarge`. */
  store(
    dispatch: { readonly head: DispatchHead; readonly recipients: readonly Recipient[] },
    signal: AbortSignal,
  ): Promise<void>;
  /**
   * Returns the recipients from `index` (below the dispatch's total) to the end of its page, strongly consistent.
   * Throws `ParametersGone`.
   */
  read(dispatchId: string, index: number): Promise<readonly StoredRecipient[]>;
}

const pagesAtOnce = 10;

const PageItemSchema = v.object({ sk: v.string(), recipients: v.instance(Uint8Array) });

/** A page is one plain put, of 50 write units at most unless one recipient is larger. */
export function parameterStore(table: Pick<Table, 'client' | 'name'>): DispatchParameters {
  const { client } = table;
  return {
    store: async ({ head, recipients }, abortSignal) => {
      const { dispatchId } = head;
      const expiresAtSeconds = parametersExpireAtSeconds(head);
      await forEachConcurrently(pagesOf(recipients), pagesAtOnce, ({ firstIndex, ...page }) => {
        const Item = { ...parametersKey({ dispatchId, index: firstIndex }), ...page, expiresAtSeconds };
        return client.send(new PutCommand({ TableName: table.name, Item }), { abortSignal });
      });
    },

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

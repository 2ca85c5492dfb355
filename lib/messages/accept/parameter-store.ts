import { type DynamoDBDocumentClient, PutCommand, QueryCommand } from '@aws-sdk/lib-dynamodb';
import * as v from 'valibot';
import { forEachConcurrently } from '../../aws/concurrently.ts';
import type { Item } from '../../aws/dynamodb-batch.ts';
import { parametersKey } from '../items.ts';
import type { JobHead, Recipient, StoredRecipient } from '../job.ts';
import { ParametersGone, pagesOf, parametersExpireAtSeconds, recipientsOfPage } from './parameter-pages.ts';

export interface JobParameters {
  /** Is idempotent. Some pages may be stored when it rejects. Throws `RecipientTooLarge`. */
  store(job: { readonly head: JobHead; readonly recipients: readonly Recipient[] }, signal: AbortSignal): Promise<void>;
  /**
   * Returns the recipients from `index` (below the job's total) to the end of its page, strongly consistent. Throws
   * `ParametersGone`.
   */
  read(jobId: string, index: number): Promise<readonly StoredRecipient[]>;
}

const pagesAtOnce = 10;

const PageItemSchema = v.object({ sk: v.string(), recipients: v.instance(Uint8Array) });

/** A page is one plain put, of 50 write units at most unless one recipient is larger. */
export function parameterStore(client: DynamoDBDocumentClient, table: string): JobParameters {
  return {
    store: async ({ head, recipients }, abortSignal) => {
      const { jobId } = head;
      const expiresAtSeconds = parametersExpireAtSeconds(head);
      await forEachConcurrently(pagesOf(recipients), pagesAtOnce, ({ firstIndex, ...page }) => {
        const Item = { ...parametersKey({ jobId, index: firstIndex }), ...page, expiresAtSeconds };
        return client.send(new PutCommand({ TableName: table, Item }), { abortSignal });
      });
    },

    read: async (jobId, index) => {
      const item = await parameterPageAt({ client, table }, { jobId, index });
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
  { client, table }: { readonly client: DynamoDBDocumentClient; readonly table: string },
  recipient: { readonly jobId: string; readonly index: number },
): Promise<Item | undefined> {
  const { pk, sk } = parametersKey(recipient);
  const { Items: [page] = [] } = await client.send(
    new QueryCommand({
      TableName: table,
      KeyConditionExpression: 'pk = :pk AND sk <= :sk',
      ExpressionAttributeValues: { ':pk': pk, ':sk': sk },
      ScanIndexForward: false,
      Limit: 1,
      ConsistentRead: true,
    }),
  );
  return page;
}

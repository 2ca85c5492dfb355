import { type DynamoDBDocumentClient, PutCommand, QueryCommand } from '@aws-sdk/lib-dynamodb';
import * as v from 'valibot';
import type { Item } from '../../aws/dynamodb-batch.ts';
import { sideBySide } from '../../aws/side-by-side.ts';
import { parametersKey } from '../items.ts';
import type { JobHead, Recipient, StoredRecipient } from '../job.ts';
import { ParametersGone, pagesOf, parametersExpireAtSeconds, recipientsOfPage } from './parameter-pages.ts';

/** The recipients of jobs with their parameters, until seven days after a job has ended. */
export interface JobParameters {
  /**
   * Stores all of them. Rejects when one write fails, or `signal` ends the wait: then some may be there. May be repeated.
   * Throws `RecipientTooLarge`.
   */
  store(job: { readonly head: JobHead; readonly recipients: readonly Recipient[] }, signal: AbortSignal): Promise<void>;
  /**
   * The recipients from that index on, to the end of the page that holds it; strongly consistent. `index` is below the
   * total of the job. Throws `ParametersGone`.
   */
  read(jobId: string, index: number): Promise<readonly StoredRecipient[]>;
}

/** So many pages are packed and on their way at any moment. */
const pagesAtOnce = 10;

const PageItemSchema = v.object({ sk: v.string(), recipients: v.instance(Uint8Array) });

/** Parameters in the messages table. A page is one plain put, of 50 write units at most unless one recipient has more. */
export function parameterStore(client: DynamoDBDocumentClient, table: string): JobParameters {
  return {
    store: async ({ head, recipients }, abortSignal) => {
      const { jobId } = head;
      const expiresAtSeconds = parametersExpireAtSeconds(head);
      await sideBySide(pagesOf(recipients), pagesAtOnce, ({ firstIndex, ...page }) => {
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

/** The page of parameters that holds a recipient, if it is there; strongly consistent. */
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

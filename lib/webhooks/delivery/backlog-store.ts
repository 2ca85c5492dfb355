import { DeleteCommand, type DynamoDBDocumentClient, PutCommand } from '@aws-sdk/lib-dynamodb';
import * as v from 'valibot';
import { queryPages } from '../../aws/dynamodb-batch.ts';
import { ServiceEventSchema } from '../event.ts';
import { clientPartition, waitingKey, waitingPrefix } from '../items.ts';
import type { Backlog } from './deliver-ports.ts';
import { deliveryLimitMs } from './retry.ts';

/** A page is a few rounds of posts, so that a run that ends early has read little in vain. */
const pageItems = 50;
/** Waiting events are abandoned before; the expiry cleans up after a client without a receiver. */
const keptMs = 2 * deliveryLimitMs;

const WaitingSchema = v.object({
  // The event is stored as text, because a client's own numbers may be larger than DynamoDB's.
  event: v.pipe(v.string(), v.parseJson(), ServiceEventSchema),
  attempts: v.number(),
  firstSeenMs: v.number(),
  dueMs: v.number(),
});

/** Keeps the waiting events in the table `webhooks`. Reads are strongly consistent. */
export function backlogStore(client: DynamoDBDocumentClient, table: string): Backlog {
  return {
    put: async ({ event, attempts, firstSeenMs, dueMs }) => {
      const waiting = { event: JSON.stringify(event), attempts, firstSeenMs, dueMs };
      const expiresAtSeconds = Math.ceil((firstSeenMs + keptMs) / 1_000);
      const Item = { ...waitingKey({ event, dueMs }), ...waiting, expiresAtSeconds };
      await client.send(new PutCommand({ TableName: table, Item }));
    },
    remove: async (pending) => {
      await client.send(new DeleteCommand({ TableName: table, Key: waitingKey(pending) }));
    },
    pages: async function* (clientId) {
      const pages = queryPages({ client: client, name: table }, clientPartition(clientId), {
        sort: { prefix: waitingPrefix },
        consistent: true,
        pageItems,
      });
      for await (const page of pages) {
        yield page.map((item) => {
          const read = v.safeParse(WaitingSchema, item);
          return read.success ? read.output : undefined;
        });
      }
    },
  };
}

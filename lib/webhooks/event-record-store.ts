import { type DynamoDBDocumentClient, PutCommand } from '@aws-sdk/lib-dynamodb';
import * as v from 'valibot';
import { queryPages } from '../aws/dynamodb-batch.ts';
import { type ServiceEvent, ServiceEventSchema } from './event.ts';
import { clientPartition, eventKey, eventsBetween } from './items.ts';

/** Events can be sent again for this long (D34). */
export const recordedDays = 7;

const RecordSchema = v.object({ event: v.pipe(v.string(), v.parseJson(), ServiceEventSchema) });

export interface Period {
  readonly sinceMs: number;
  readonly untilMs: number;
}

export interface EventRecords {
  /** Records the event. Is idempotent, the expiry included. */
  record(event: ServiceEvent): Promise<void>;
  /** Yields a client's events of a period, both ends included, oldest first, page by page. */
  pages(clientId: number, period: Period): AsyncIterable<readonly ServiceEvent[]>;
}

export function eventRecordStore(client: DynamoDBDocumentClient, table: string): EventRecords {
  return {
    record: async (event) => {
      const expiresAtSeconds = Math.ceil(event.timestampMs / 1_000) + recordedDays * 86_400;
      // The event is stored as text, because a client's own numbers may be larger than DynamoDB's.
      const item = { ...eventKey(event), event: JSON.stringify(event), expiresAtSeconds };
      await client.send(new PutCommand({ TableName: table, Item: item }));
    },
    pages: async function* (clientId, { sinceMs, untilMs }) {
      const pages = queryPages({ client: client, name: table }, clientPartition(clientId), {
        sort: eventsBetween(sinceMs, untilMs),
        consistent: false,
      });
      for await (const page of pages) yield page.map((item) => v.parse(RecordSchema, item).event);
    },
  };
}

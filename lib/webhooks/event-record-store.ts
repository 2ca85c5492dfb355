import { type DynamoDBDocumentClient, PutCommand, QueryCommand } from '@aws-sdk/lib-dynamodb';
import * as v from 'valibot';
import { type ServiceEvent, ServiceEventSchema } from './event.ts';

/** Events can be sent again for this long after they happened (D34). */
export const recordedDays = 7;

const RecordSchema = v.object({ event: v.pipe(v.string(), v.parseJson(), ServiceEventSchema) });

export interface Period {
  readonly sinceMs: number;
  readonly untilMs: number;
}

export interface EventRecords {
  /** Keeps the event. Repeating it changes nothing, its end included. */
  record(event: ServiceEvent): Promise<void>;
  /** A client's events of a time, both ends included, oldest first, page by page. */
  pages(clientId: number, period: Period): AsyncIterable<readonly ServiceEvent[]>;
}

/** The events of the last days in the table `webhooks`, by client and time. */
export function eventRecordStore(client: DynamoDBDocumentClient, table: string): EventRecords {
  return {
    record: async (event) => {
      const expiresAtSeconds = Math.ceil(event.timestampMs / 1_000) + recordedDays * 86_400;
      const key = { pk: partitionOf(event.clientId), sk: `${sortKeyAt(event.timestampMs)}#${event.id}` };
      // As text: a client's own numbers may be larger than DynamoDB's.
      const item = { ...key, event: JSON.stringify(event), expiresAtSeconds };
      await client.send(new PutCommand({ TableName: table, Item: item }));
    },
    pages: async function* (clientId, { sinceMs, untilMs }) {
      let start: Record<string, unknown> | undefined;
      do {
        const page = await client.send(
          new QueryCommand({
            TableName: table,
            KeyConditionExpression: 'pk = :partition AND sk BETWEEN :first AND :last',
            ExpressionAttributeValues: {
              ':partition': partitionOf(clientId),
              ':first': sortKeyAt(sinceMs),
              // After the separator of the last millisecond.
              ':last': `${sortKeyAt(untilMs)}$`,
            },
            ExclusiveStartKey: start,
          }),
        );
        yield (page.Items ?? []).map((item) => v.parse(RecordSchema, item).event);
        start = page.LastEvaluatedKey;
      } while (start !== undefined);
    },
  };
}

function partitionOf(clientId: number): string {
  return `CLIENT#${clientId}`;
}

function sortKeyAt(timeMs: number): string {
  return `EVENT#${String(timeMs).padStart(15, '0')}`;
}

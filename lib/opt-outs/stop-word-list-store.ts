import { type DynamoDBDocumentClient, GetCommand } from '@aws-sdk/lib-dynamodb';
import { stopWordListKey, stopWordListOf } from './stop-word-list.ts';
import type { StopWordList } from './stop-words.ts';

/** Reads the stop and start words of D55. Throws when the table fails. */
export function stopWordListReader(client: DynamoDBDocumentClient, tableName: string): () => Promise<StopWordList> {
  return async () => {
    const { Item } = await client.send(
      new GetCommand({ TableName: tableName, Key: stopWordListKey, ConsistentRead: true }),
    );
    return stopWordListOf(Item);
  };
}

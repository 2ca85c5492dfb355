import { type DynamoDBDocumentClient, GetCommand } from '@aws-sdk/lib-dynamodb';
import type { WordList } from './stop-words.ts';
import { wordListKey, wordListOf } from './word-list.ts';

/** Reads the words of D55. Throws when the table fails. */
export function wordListReader(client: DynamoDBDocumentClient, tableName: string): () => Promise<WordList> {
  return async () => {
    const { Item } = await client.send(
      new GetCommand({ TableName: tableName, Key: wordListKey, ConsistentRead: true }),
    );
    return wordListOf(Item);
  };
}

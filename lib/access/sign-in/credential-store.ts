import { type DynamoDBDocumentClient, GetCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import * as v from 'valibot';
import { conditionalWrite } from '../../aws/conditional-write.ts';
import { credentialKey } from './credential-items.ts';
import type { Credentials } from './sign-in.ts';

const CredentialItemSchema = v.object({
  passwordHash: v.string(),
  givenHash: v.optional(v.string()),
  userId: v.string(),
  clientId: v.number(),
});

/** Keeps credentials in their table. Every method is one request; reads are strongly consistent. */
export function credentialStore(client: DynamoDBDocumentClient, tableName: string): Credentials {
  return {
    find: async (username) => {
      const read = new GetCommand({ TableName: tableName, Key: credentialKey(username), ConsistentRead: true });
      const item = (await client.send(read)).Item;
      return item === undefined ? undefined : v.parse(CredentialItemSchema, item);
    },
    replaceHash: async (username, oldHash, newHash) => {
      await conditionalWrite(
        client.send(
          new UpdateCommand({
            TableName: tableName,
            Key: credentialKey(username),
            ConditionExpression: 'passwordHash = :oldHash',
            UpdateExpression: 'SET passwordHash = :newHash',
            ExpressionAttributeValues: { ':oldHash': oldHash, ':newHash': newHash },
          }),
        ),
      );
    },
  };
}

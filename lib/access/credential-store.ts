import { type DynamoDBDocumentClient, GetCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import * as v from 'valibot';
import { conditionalWrite } from '../aws/conditional-write.ts';
import { attemptsKey, credentialKey } from './credential-items.ts';
import { type Credentials, failureLimit, failureWindowSeconds } from './sign-in.ts';

const CredentialItemSchema = v.object({
  passwordHash: v.string(),
  givenHash: v.optional(v.string()),
  userId: v.string(),
  clientId: v.number(),
});

const AttemptsItemSchema = v.object({ failures: v.number() });

/** Credentials and failure counters in the credentials table. Every method is one request; reads are strongly consistent. */
export function credentialStore(client: DynamoDBDocumentClient, tableName: string): Credentials {
  const read = async (Key: { readonly pk: string }) =>
    (await client.send(new GetCommand({ TableName: tableName, Key, ConsistentRead: true }))).Item;
  return {
    find: async (username) => {
      const item = await read(credentialKey(username));
      return item === undefined ? undefined : v.parse(CredentialItemSchema, item);
    },
    countFailures: async (username, nowMs) => {
      const item = await read(attemptsKey(username, windowOf(nowMs)));
      return item === undefined ? 0 : v.parse(AttemptsItemSchema, item).failures;
    },
    addFailure: async (username, nowMs) => {
      await conditionalWrite(
        client.send(
          new UpdateCommand({
            TableName: tableName,
            Key: attemptsKey(username, windowOf(nowMs)),
            ConditionExpression: 'attribute_not_exists(failures) OR failures < :limit',
            UpdateExpression: 'ADD failures :one SET expiresAtSeconds = :windowEndSeconds',
            ExpressionAttributeValues: {
              ':one': 1,
              ':limit': failureLimit,
              ':windowEndSeconds': (windowOf(nowMs) + 1) * failureWindowSeconds,
            },
          }),
        ),
      );
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

function windowOf(nowMs: number): number {
  return Math.floor(nowMs / 1000 / failureWindowSeconds);
}

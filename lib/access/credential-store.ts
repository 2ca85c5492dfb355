import { createHash } from 'node:crypto';
import { type DynamoDBDocumentClient, GetCommand, PutCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import * as v from 'valibot';
import { conditionalWrite } from '../aws/conditional-write.ts';
import { type Credential, type Credentials, failureLimit, failureWindowSeconds, usernamePattern } from './sign-in.ts';

const CredentialItemSchema = v.object({
  passwordHash: v.string(),
  userId: v.string(),
  clientId: v.number(),
});

const AttemptsItemSchema = v.object({ failures: v.number() });

/** The credential store, with the one write that only provisioning makes. */
export interface CredentialStore extends Credentials {
  put(username: string, credential: Credential): Promise<void>;
}

/** Credentials and failure counters in the credentials table. Every method is one request; reads are strongly consistent. */
export function credentialStore(client: DynamoDBDocumentClient, tableName: string): CredentialStore {
  const read = async (pk: string) =>
    (await client.send(new GetCommand({ TableName: tableName, Key: { pk }, ConsistentRead: true }))).Item;
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
            Key: { pk: attemptsKey(username, windowOf(nowMs)) },
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
            Key: { pk: credentialKey(username) },
            ConditionExpression: 'passwordHash = :oldHash',
            UpdateExpression: 'SET passwordHash = :newHash',
            ExpressionAttributeValues: { ':oldHash': oldHash, ':newHash': newHash },
          }),
        ),
      );
    },
    put: async (username, { passwordHash, userId, clientId }) => {
      const Item = { pk: credentialKey(username), passwordHash, userId, clientId };
      await client.send(new PutCommand({ TableName: tableName, Item }));
    },
  };
}

function windowOf(nowMs: number): number {
  return Math.floor(nowMs / 1000 / failureWindowSeconds);
}

function credentialKey(username: string): string {
  return `USER#${keyPart(username)}`;
}

function attemptsKey(username: string, window: number): string {
  return `ATTEMPTS#${keyPart(username)}#${window}`;
}

/**
 * A user name as part of a key. Names that nobody can have are digested, so that whatever a stranger sends (a megabyte, a
 * lone surrogate that DynamoDB would refuse) becomes a short key of its own. A digest's colon keeps it apart from names.
 */
function keyPart(username: string): string {
  if (usernamePattern.test(username)) return username;
  return `sha256:${createHash('sha256').update(username).digest('hex')}`;
}

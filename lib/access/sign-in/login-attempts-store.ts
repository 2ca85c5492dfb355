import { DeleteCommand, type DynamoDBDocumentClient, GetCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import * as v from 'valibot';
import { conditionalWrite } from '../../aws/conditional-write.ts';
import { nameFailuresKey, pairKey } from './credential-items.ts';
import { failureHourSeconds, recordDaySeconds } from './login-throttle.ts';
import type { LoginAttempts, LoginSource } from './sign-in.ts';

const PairItemSchema = v.object({
  started: v.optional(v.number(), 0),
  failures: v.optional(v.number(), 0),
  lastStartedMs: v.optional(v.number(), 0),
});

const NameItemSchema = v.object({ failures: v.number() });

/**
 * Keeps login attempts in the credentials table: `read` is three concurrent requests, `settle` two, the others one.
 * Reads are strongly consistent. Addresses are kept as digests, for two days at most.
 */
export function loginAttemptsStore(documentClient: DynamoDBDocumentClient, tableName: string): LoginAttempts {
  const get = async (Key: { readonly pk: string }) =>
    (await documentClient.send(new GetCommand({ TableName: tableName, Key, ConsistentRead: true }))).Item;
  const update = (Key: { readonly pk: string }, change: Omit<UpdateCommand['input'], 'TableName' | 'Key'>) =>
    documentClient.send(new UpdateCommand({ TableName: tableName, Key, ...change }));
  return {
    read: async (source, nowMs) => {
      const hour = hourOf(nowMs);
      const names = [hour - 1, hour].map((each) => nameFailuresKey(source.username, each));
      const [pair, ...hours] = await Promise.all([pairKeyAt(source, nowMs), ...names].map(get));
      const counted = hours.filter((item) => item !== undefined).map((item) => v.parse(NameItemSchema, item));
      return {
        pair: pair === undefined ? undefined : v.parse(PairItemSchema, pair),
        nameFailures: counted.reduce((sum, { failures }) => sum + failures, 0),
      };
    },
    start: async (source, { free, atOnce, afterDelayOf }, nowMs) => {
      const noneFailed = '(attribute_not_exists(failures) OR failures = :none)';
      const after = afterDelayOf === undefined ? '' : ' OR started = :after';
      const started = update(pairKeyAt(source, nowMs), {
        ConditionExpression: `attribute_not_exists(started) OR started < :free OR (started < :atOnce AND ${noneFailed})${after}`,
        UpdateExpression: 'ADD started :one SET lastStartedMs = :now, expiresAtSeconds = :dayEnd',
        ExpressionAttributeValues: {
          ':one': 1,
          ':none': 0,
          ':free': free,
          ':atOnce': atOnce,
          ':after': afterDelayOf,
          ':now': nowMs,
          ':dayEnd': dayEndSeconds(nowMs),
        },
      });
      return (await conditionalWrite(started)).written;
    },
    settle: async (source, failures, nowMs) => {
      const hour = hourOf(nowMs);
      const adding = (key: { readonly pk: string }, expiresAtSeconds: number) =>
        update(key, {
          UpdateExpression: 'ADD failures :failures SET expiresAtSeconds = :end',
          ExpressionAttributeValues: { ':failures': failures, ':end': expiresAtSeconds },
        });
      await Promise.all([
        adding(pairKeyAt(source, nowMs), dayEndSeconds(nowMs)),
        adding(nameFailuresKey(source.username, hour), (hour + 2) * failureHourSeconds),
      ]);
    },
    forget: async (source, nowMs) => {
      await documentClient.send(new DeleteCommand({ TableName: tableName, Key: pairKeyAt(source, nowMs) }));
    },
  };
}

function pairKeyAt(source: LoginSource, nowMs: number): { readonly pk: string } {
  return pairKey(source, Math.floor(nowMs / 1000 / recordDaySeconds));
}

function dayEndSeconds(nowMs: number): number {
  return (Math.floor(nowMs / 1000 / recordDaySeconds) + 1) * recordDaySeconds;
}

function hourOf(nowMs: number): number {
  return Math.floor(nowMs / 1000 / failureHourSeconds);
}

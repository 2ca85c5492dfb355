import { type DynamoDBDocumentClient, GetCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import * as v from 'valibot';
import { conditionalWrite } from '../aws/conditional-write.ts';
import type { Redirect } from './rewriting.ts';

export interface RedirectOrigin {
  readonly clientId: number;
  readonly wabaId: string;
  readonly templateKey: string;
  readonly createdAtMs: number;
}

/**
 * A redirect is pending while it has `expiresAtSeconds`, and then permanent (D19). Only a permanent one leads on, so a
 * request alone gets no link on this domain. Only TTL and an operator delete.
 */
export interface RedirectStore {
  /**
   * Makes absent redirects pending for 90 days and renews pending ones; permanent ones stay. Origins never change. It
   * runs before the platform is called.
   */
  put(redirects: readonly Redirect[], origin: RedirectOrigin): Promise<void>;
  /**
   * Makes a template's pending redirects permanent, after the platform's yes or with a stored reading
   * (kept-redirects.ts). A no undoes nothing, because an earlier request's yes may be lost. Another template's code
   * stays unchanged. Returns codes without a redirect.
   */
  keep(codes: readonly string[], templateKey: string): Promise<readonly string[]>;
  /** Returns the target of a permanent code, or undefined. Reads strongly. */
  urlOf(code: string): Promise<string | undefined>;
}

/** An accepted template may stay unread this long where clients synchronize by hand. */
export const pendingSeconds = 90 * 86_400;

const RedirectItemSchema = v.object({ url: v.string(), expiresAtSeconds: v.optional(v.number()) });

export function redirectStore(documentClient: DynamoDBDocumentClient, tableName: string): RedirectStore {
  const table = { documentClient, tableName };
  return {
    put: async (redirects, origin) => {
      await Promise.all(redirects.map((redirect) => putOne(table, redirect, origin)));
    },
    keep: async (codes, templateKey) => {
      const there = await Promise.all(codes.map((code) => keepOne(table, code, templateKey)));
      return codes.filter((_, index) => !there[index]);
    },
    urlOf: async (code) => {
      const read = new GetCommand({ TableName: tableName, Key: redirectKey(code), ConsistentRead: true });
      const { Item } = await documentClient.send(read);
      if (Item === undefined) return undefined;
      const { url, expiresAtSeconds } = v.parse(RedirectItemSchema, Item);
      return expiresAtSeconds === undefined ? url : undefined;
    },
  };
}

interface Table {
  readonly documentClient: DynamoDBDocumentClient;
  readonly tableName: string;
}

const originKeys = ['clientId', 'wabaId', 'templateKey', 'createdAtMs'] as const;

async function putOne({ documentClient, tableName }: Table, redirect: Redirect, origin: RedirectOrigin): Promise<void> {
  const origins = originKeys.map((key) => `${key} = if_not_exists(${key}, :${key})`).join(', ');
  const write = new UpdateCommand({
    TableName: tableName,
    Key: redirectKey(redirect.code),
    UpdateExpression: `SET #url = :url, expiresAtSeconds = :expiry, ${origins}`,
    ConditionExpression: 'attribute_not_exists(pk) OR attribute_exists(expiresAtSeconds)',
    ExpressionAttributeNames: { '#url': 'url' },
    ExpressionAttributeValues: {
      ':url': redirect.url,
      ':expiry': Math.ceil(origin.createdAtMs / 1_000) + pendingSeconds,
      ...Object.fromEntries(originKeys.map((key) => [`:${key}`, origin[key]])),
    },
  });
  // A permanent one refuses the write: the code is a hash of the URL, so it already leads there.
  await conditionalWrite(documentClient.send(write));
}

async function keepOne({ documentClient, tableName }: Table, code: string, templateKey: string): Promise<boolean> {
  const write = new UpdateCommand({
    TableName: tableName,
    Key: redirectKey(code),
    UpdateExpression: 'REMOVE expiresAtSeconds',
    ConditionExpression: 'attribute_exists(expiresAtSeconds) AND templateKey = :template',
    ExpressionAttributeValues: { ':template': templateKey },
    ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
  });
  const result = await conditionalWrite(documentClient.send(write));
  return result.written || result.existing !== undefined;
}

function redirectKey(code: string) {
  return { pk: `REDIRECT#${code}` };
}

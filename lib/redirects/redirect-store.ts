import { type DynamoDBDocumentClient, GetCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import * as v from 'valibot';
import { conditionalWrite } from '../aws/conditional-write.ts';
import type { Redirect } from './rewriting.ts';

/** Who had redirects made, for which template. */
export interface RedirectOrigin {
  readonly clientId: number;
  readonly wabaId: string;
  readonly templateKey: string;
  readonly createdAtMs: number;
}

/**
 * The redirects table (D19). A redirect is one item and has three states:
 *
 * - *absent*: nobody asked for it, or nothing came of it and it expired.
 * - *pending* (has `expiresAtSeconds`): the platform is being asked, or was asked and said no, or nobody knows. It leads on
 *   for 7 days; after that it counts as absent, also while DynamoDB has not removed it yet.
 * - *permanent* (no `expiresAtSeconds`): a template has it. It never goes back: messages that were sent keep their links.
 *
 * Who changes them: `put` makes absent and pending ones pending, for 7 days from now, and leaves permanent ones alone; a
 * creation or an edit calls it before it asks the platform. `keep` makes pending ones permanent. It is called by the creation or
 * the edit after the platform's yes and after an answer that may have been one, and by whoever stores a template as the
 * platform shows it (kept-redirects.ts), because the process that asked may have died in between. A no changes nothing: an
 * earlier request for the same redirect may have got an answer that was lost. Only DynamoDB's TTL removes.
 */
export interface RedirectStore {
  /** Resolves when all redirects lead on, for 7 days at least; those that are there already keep their first origin. */
  put(redirects: readonly Redirect[], origin: RedirectOrigin): Promise<void>;
  /**
   * Makes redirects of one template permanent. A code that was made for another template is left as it is: a template cannot
   * keep what is not its own. Returns the codes that lead nowhere, because nothing is stored.
   */
  keep(codes: readonly string[], templateKey: string): Promise<readonly string[]>;
  /** Where a code leads; undefined when nowhere. */
  urlOf(code: string, nowMs: number): Promise<string | undefined>;
}

/** Longer than a review takes, and than two scheduled synchronizations are apart. */
export const pendingSeconds = 7 * 86_400;

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
    // A redirect is stored before the platform is asked for the template: by the first click it can be read anywhere.
    urlOf: async (code, nowMs) => {
      const { Item } = await documentClient.send(new GetCommand({ TableName: tableName, Key: redirectKey(code) }));
      if (Item === undefined) return undefined;
      const { url, expiresAtSeconds } = v.parse(RedirectItemSchema, Item);
      return expiresAtSeconds !== undefined && expiresAtSeconds * 1_000 <= nowMs ? undefined : url;
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
  // Refused for a permanent one: the code is computed from the URL, so it leads there already.
  await conditionalWrite(documentClient.send(write));
}

/** False when nothing is stored under the code. */
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

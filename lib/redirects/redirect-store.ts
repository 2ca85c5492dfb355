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
 * - *absent*: no request asked for it, nothing came of it and it expired, or an operator took it away. It leads nowhere.
 * - *pending* (has `expiresAtSeconds`): the platform is being asked, or was asked and said no, or its answer was lost. It
 *   leads nowhere either: a request alone gets no link on our domain.
 * - *permanent* (no `expiresAtSeconds`): the platform has taken a template with it. It leads on and never goes back, for
 *   messages that were sent keep their links.
 *
 * Who changes them: `put` makes absent and pending ones pending, for 90 days from now, and leaves permanent ones alone; a
 * creation or an edit calls it before it asks the platform. `keep` makes pending ones permanent and never an absent one.
 * Two call it: the creation or edit after the platform's yes, and every part that stores a template as the platform
 * shows it (kept-redirects.ts), because the answer may have been lost, or the process may have died after it. A no
 * changes nothing: an earlier request for the same redirect may have got a yes that was lost. Only DynamoDB's TTL and an
 * operator remove.
 */
export interface RedirectStore {
  /** Resolves when `keep` finds all redirects, for 90 days at least; those that are there already keep their first origin. */
  put(redirects: readonly Redirect[], origin: RedirectOrigin): Promise<void>;
  /**
   * Makes redirects of one template permanent: from now on they lead on. A code that was made for another template is left
   * as it is: a template cannot keep what is not its own. Returns the codes that lead nowhere, because nothing is stored.
   */
  keep(codes: readonly string[], templateKey: string): Promise<readonly string[]>;
  /** Where a code leads; undefined when nowhere. Strongly consistent: what was kept before leads on. */
  urlOf(code: string): Promise<string | undefined>;
}

/** So long a template that the platform has taken may stay unread where clients synchronize by hand. */
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

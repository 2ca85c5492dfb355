import { type DynamoDBDocumentClient, GetCommand } from '@aws-sdk/lib-dynamodb';
import * as v from 'valibot';
import { transactWrite } from '../aws/dynamodb-batch.ts';
import { type Pause, storePause } from '../aws/pause.ts';
import type { Redirect } from './rewriting.ts';

/** Who had redirects made, for which template. */
export interface RedirectOrigin {
  readonly clientId: number;
  readonly wabaId: string;
  readonly templateKey: string;
  readonly createdAtMs: number;
}

export interface RedirectStore {
  /** Stores all of at most 100 redirects, in one request; those that are there already keep their first origin. */
  put(redirects: readonly Redirect[], origin: RedirectOrigin): Promise<void>;
  /** Where a code leads; undefined when nowhere. */
  find(code: string): Promise<string | undefined>;
}

const RedirectItemSchema = v.object({ url: v.string() });

/** The redirects table. Nothing is ever removed: messages that were sent keep their links. */
export function redirectStore(
  documentClient: DynamoDBDocumentClient,
  tableName: string,
  pause: Pause = storePause,
): RedirectStore {
  return {
    put: async (redirects, origin) => {
      if (redirects.length === 0) return;
      const actions = redirects.map(({ code, url }) => ({
        Update: {
          TableName: tableName,
          Key: redirectKey(code),
          UpdateExpression: `SET #url = :url, ${originKeys.map((key) => `${key} = if_not_exists(${key}, :${key})`).join(', ')}`,
          ExpressionAttributeNames: { '#url': 'url' },
          ExpressionAttributeValues: {
            ':url': url,
            ...Object.fromEntries(originKeys.map((key) => [`:${key}`, origin[key]])),
          },
        },
      }));
      await transactWrite({ documentClient, tableName, pause }, actions);
    },
    // A redirect is stored before the platform is asked for the template: by the first click it can be read anywhere.
    find: async (code) => {
      const { Item } = await documentClient.send(new GetCommand({ TableName: tableName, Key: redirectKey(code) }));
      return Item === undefined ? undefined : v.parse(RedirectItemSchema, Item).url;
    },
  };
}

const originKeys = ['clientId', 'wabaId', 'templateKey', 'createdAtMs'] as const;

function redirectKey(code: string) {
  return { pk: `REDIRECT#${code}` };
}

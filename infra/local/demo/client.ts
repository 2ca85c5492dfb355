import { GetCommand } from '@aws-sdk/lib-dynamodb';
import * as v from 'valibot';
import { LeaseSchema } from '../../../lib/aws/lease.ts';
import { omitUndefined } from '../../../lib/keys/omit-undefined.ts';
import { reportedStates } from '../../../lib/messages/receipts/reported-state.ts';
import { lockKey } from '../../../lib/templates/model/items.ts';
import { deploymentLockName } from '../../../lib/templates/sync/sync-lock.ts';
import type { LocalStack } from '../../operate/local-stacks.ts';
import { localTarget } from '../../operate/target.ts';
import { watched } from './watching.ts';

/** The demo sees the local stack as an API client does; the stores tell what the API does not. */
export type DemoStack = Pick<
  LocalStack,
  'apiUrl' | 'platformUrl' | 'dynamodbEndpoint' | 'secretsEndpoint' | 'region' | 'stage'
>;

export interface Addressee {
  readonly to: string;
  readonly params: { readonly body: readonly string[]; readonly buttons?: readonly string[] };
}

export interface SendOrder {
  readonly did: string;
  readonly template: { readonly name: string; readonly language: string };
  readonly recipients: readonly Addressee[];
  /** A send with an uncertain answer can be repeated safely with it. */
  readonly idempotencyKey?: string;
}

/** Calls the API for one user. Every method throws an `ApiRefusal` for any status but 200. */
export interface DemoClient {
  /** Waits for a synchronization that runs already, then starts one and waits for its end. */
  synchronize(): Promise<void>;
  listTemplates(): Promise<{ readonly total: number; readonly names: readonly string[] }>;
  /** Returns the dispatch id. */
  send(order: SendOrder): Promise<string>;
  /** Returns the first page of a dispatch's report: all counts, and 1,000 rows. */
  report(did: string, dispatchId: string): Promise<Report>;
  rows(did: string, dispatchId: string): Promise<readonly ReportRow[]>;
  /**
   * Sends the client's events to the URL, only the given kinds when there are any. Returns the signing secret, a new
   * one each time.
   */
  receiveEvents(url: string, kinds?: readonly string[]): Promise<string>;
  stopEvents(url: string): Promise<void>;
  /** Returns the URL of the client's events and the chosen kinds, if any; undefined when nothing is configured. */
  webhook(): Promise<DemoWebhook | undefined>;
  channel(): Promise<{ readonly did: string; readonly wabaId: string }>;
}

export class ApiRefusal extends Error {
  readonly status: number;

  constructor(route: string, status: number, text: string) {
    super(`${route} was answered ${status}: ${text.slice(0, 300)}`);
    this.status = status;
  }
}

const LoginSchema = v.object({ access_token: v.string() });
const ListSchema = v.object({
  total: v.number(),
  data: v.array(v.object({ platform_template: v.object({ name: v.string() }) })),
});
const StateSchema = v.picklist(reportedStates);
const RowSchema = v.object({
  to: v.optional(v.string()),
  state: StateSchema,
  code: v.optional(v.string()),
  reason: v.optional(v.string()),
  updated_at: v.optional(v.string()),
});
const ReportSchema = v.object({
  total: v.number(),
  counts: v.object(v.entriesFromList(reportedStates, v.number())),
  data: v.array(RowSchema),
});
const PageSchema = v.object({
  data: v.array(RowSchema),
  paging: v.object({ cursors: v.object({ after: v.optional(v.string()) }) }),
});
export type ReportRow = v.InferOutput<typeof RowSchema>;
export type Report = v.InferOutput<typeof ReportSchema>;

const WebhookSchema = v.object({
  client_id: v.number(),
  url: v.string(),
  active: v.boolean(),
  events: v.optional(v.array(v.string())),
});
export type DemoWebhook = v.InferOutput<typeof WebhookSchema>;
const ChannelsSchema = v.object({ data: v.array(v.object({ wa_id: v.string(), waba_id: v.string() })) });

const LockSchema = v.object({ lease: v.optional(LeaseSchema) });

/** This is longer than the lock of a killed worker; a live worker keeps renewing its lease. */
const syncQuietLimitMs = 120_000;
const syncPollMs = 200;

export async function logIn(stack: DemoStack, username: string, signal: AbortSignal): Promise<DemoClient> {
  const login = { username, password: `demo-${username}` };
  const { json } = await call({ baseUrl: stack.apiUrl, route: 'POST /login', body: login, signal });
  const token = v.parse(LoginSchema, json).access_token;
  const request = (route: string, body?: unknown, headers: Readonly<Record<string, string>> = {}) =>
    call({ baseUrl: stack.apiUrl, route, body, token, headers, signal });
  return {
    synchronize: async () => {
      const started = async () => {
        try {
          await request('POST /v1/templates/sync-from-platform', {});
          return true;
        } catch (error) {
          if (error instanceof ApiRefusal && error.status === 409) return false;
          throw error;
        }
      };
      await onLock(stack, async (leaseUntilMs) => {
        const ended = async () => (await leaseUntilMs()) === undefined;
        await until('the synchronization starts', { holds: started, leaseUntilMs, signal });
        await until('the synchronization ends', { holds: ended, leaseUntilMs, signal });
      });
    },

    listTemplates: async () => {
      const { json: list } = await request('GET /v1/templates?campaign_name=Unassigned&size=100');
      const { total, data } = v.parse(ListSchema, list);
      return { total, names: data.map(({ platform_template: template }) => template.name) };
    },

    send: async ({ did, template, recipients, idempotencyKey }) => {
      const body = { did, type: 'template', channel: 'MESSAGING', template, recipients };
      const key = omitUndefined({ 'idempotency-key': idempotencyKey });
      const { headers } = await request(`POST /v1/template/messages/${did}`, body, key);
      return v.parse(v.string('the answer has no dispatch-id'), headers.get('dispatch-id'));
    },

    report: async (did, dispatchId) => {
      const { json: page } = await request(`GET /v1/template/messages/${did}/${dispatchId}?limit=1000`);
      return v.parse(ReportSchema, page);
    },

    rows: async (did, dispatchId) => {
      const rows: ReportRow[] = [];
      for (let cursor: string | undefined = ''; cursor !== undefined; ) {
        const query = cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`;
        const { json: page } = await request(`GET /v1/template/messages/${did}/${dispatchId}?limit=1000${query}`);
        const { data, paging } = v.parse(PageSchema, page);
        rows.push(...data);
        cursor = paging.cursors.after;
      }
      return rows;
    },

    receiveEvents: async (url, kinds) => {
      const rotation = { 'webhook-secret-rotate': 'true' };
      const config = { url, active: true, events: kinds };
      const { headers } = await request('PUT /v1/webhook/config', config, rotation);
      return v.parse(v.string('the answer has no webhook-secret'), headers.get('webhook-secret'));
    },

    stopEvents: async (url) => {
      await request('PUT /v1/webhook/config', { url, active: false });
    },

    webhook: async () => {
      try {
        return v.parse(WebhookSchema, (await request('GET /v1/webhook/config')).json);
      } catch (error) {
        if (error instanceof ApiRefusal && error.status === 404) return undefined;
        throw error;
      }
    },

    channel: async () => {
      const { json: list } = await request('GET /v1/client-messaging-channels?size=1');
      const [first] = v.parse(ChannelsSchema, list).data;
      if (first === undefined) throw new Error('the demo client has no channel');
      return { did: first.wa_id, wabaId: first.waba_id };
    },
  };
}

/**
 * The API does not tell whether a synchronization runs, but it renews the deployment's lock and gives it back at its
 * end.
 */
async function onLock(stack: DemoStack, use: (leaseUntilMs: LockWait['leaseUntilMs']) => Promise<void>): Promise<void> {
  const { documentClient, tableName } = localTarget(stack);
  const lock = { TableName: tableName('templates'), Key: lockKey(deploymentLockName), ConsistentRead: true };
  try {
    await use(async () => {
      const { Item } = await documentClient.send(new GetCommand(lock));
      return v.parse(LockSchema, Item).lease?.untilMs;
    });
  } finally {
    documentClient.destroy();
  }
}

interface LockWait {
  readonly holds: () => Promise<boolean>;
  readonly leaseUntilMs: () => Promise<number | undefined>;
  readonly signal: AbortSignal;
}

async function until(what: string, { holds, leaseUntilMs, signal }: LockWait): Promise<void> {
  const look = async () => ((await holds()) ? 'holds' : await leaseUntilMs());
  const isOver = (seen: unknown) => seen === 'holds';
  const limits = { everyMs: syncPollMs, quietLimitMs: syncQuietLimitMs };
  const seen = await watched<unknown>({ look, isOver, sign: (lease) => lease, ...limits, signal });
  if (isOver(seen)) return;
  throw new Error(`Nothing has moved for ${syncQuietLimitMs / 1_000} s; waited in vain until ${what}.`);
}

interface Call {
  readonly baseUrl: string;
  /** The form is `METHOD /path?query`. */
  readonly route: string;
  readonly body?: unknown;
  readonly token?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
}

/** Sends a request with JSON in both directions. Throws an `ApiRefusal` for any status but 200. */
export async function call({ baseUrl, route, body, token, headers, signal }: Call) {
  const [method = '', path = ''] = route.split(' ', 2);
  const reply = await fetch(`${baseUrl}${path}`, {
    method,
    signal,
    headers: {
      // A server that closes an idle connection may otherwise meet the next request on it.
      connection: 'close',
      'content-type': 'application/json',
      ...omitUndefined({ authorization: token && `Bearer ${token}` }),
      ...headers,
    },
    body: body === undefined ? undefined : JSON.stringify(body),
  });
  const text = await reply.text();
  if (reply.status !== 200) throw new ApiRefusal(route, reply.status, text);
  return { headers: reply.headers, json: JSON.parse(text) as unknown };
}

import { GetCommand } from '@aws-sdk/lib-dynamodb';
import * as v from 'valibot';
import { LeaseSchema } from '../../../lib/aws/lease.ts';
import { present } from '../../../lib/keys/present.ts';
import { reportedStates } from '../../../lib/messages/receipts/reported-state.ts';
import { lockKey } from '../../../lib/templates/model/items.ts';
import { deploymentLockName } from '../../../lib/templates/sync/sync-lock.ts';
import type { LocalStack } from '../../operate/local-stacks.ts';
import { localTarget } from '../../operate/target.ts';
import { watched } from './watching.ts';

/** The local stack as a client of the API sees it, and where to look when the API does not tell. */
export type DemoStack = Pick<
  LocalStack,
  'apiUrl' | 'platformUrl' | 'dynamodbEndpoint' | 'secretsEndpoint' | 'region' | 'stage'
>;

/** One recipient of a send: the values for body and buttons. */
export interface Addressee {
  readonly to: string;
  readonly params: { readonly body: readonly string[]; readonly buttons?: readonly string[] };
}

export interface SendOrder {
  readonly did: string;
  readonly template: { readonly name: string; readonly language: string };
  readonly recipients: readonly Addressee[];
  /** Makes it safe to send the order again whose answer says nothing for certain. */
  readonly idempotencyKey?: string;
}

/** The API for one user. Every method throws an `ApiRefusal` when it is answered anything but 200. */
export interface DemoClient {
  /** Starts a synchronization, after one that runs already, and waits for its end. */
  synchronize(): Promise<void>;
  /** The first hundred of the templates that no campaign uses yet. */
  listTemplates(): Promise<{ readonly total: number; readonly names: readonly string[] }>;
  /** Returns the job id. */
  send(order: SendOrder): Promise<string>;
  /** The first page of the report of a dispatch: the counts of all, and 1,000 rows. */
  report(did: string, jobId: string): Promise<Report>;
  /** Every row of that report, in the order of the request. */
  rows(did: string, jobId: string): Promise<readonly ReportRow[]>;
  /**
   * Has the client's events delivered to the URL, those of the kinds when they are told; returns the secret that signs
   * them, a new one each time.
   */
  receiveEvents(url: string, kinds?: readonly string[]): Promise<string>;
  stopEvents(url: string): Promise<void>;
  /** Where the client's events go, and the kinds that it chose, if it did; undefined when nothing is configured. */
  webhook(): Promise<DemoWebhook | undefined>;
  /** The first channel of the client. */
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
  to: v.exactOptional(v.string()),
  state: StateSchema,
  code: v.exactOptional(v.string()),
  reason: v.exactOptional(v.string()),
  updated_at: v.exactOptional(v.string()),
});
const ReportSchema = v.object({
  total: v.number(),
  counts: v.object(v.entriesFromList(reportedStates, v.number())),
  data: v.array(RowSchema),
});
const PageSchema = v.object({
  data: v.array(RowSchema),
  paging: v.object({ cursors: v.object({ after: v.exactOptional(v.string()) }) }),
});
export type ReportRow = v.InferOutput<typeof RowSchema>;
export type Report = v.InferOutput<typeof ReportSchema>;

const WebhookSchema = v.object({
  client_id: v.number(),
  url: v.string(),
  active: v.boolean(),
  events: v.exactOptional(v.array(v.string())),
});
export type DemoWebhook = v.InferOutput<typeof WebhookSchema>;
const ChannelsSchema = v.object({ data: v.array(v.object({ wa_id: v.string(), waba_id: v.string() })) });

const LockSchema = v.object({ lease: v.optional(LeaseSchema) });

/** Longer than a worker that was killed keeps the lock; one that lives renews its lease all the while. */
const syncQuietLimitMs = 120_000;
const syncPollMs = 200;

/** Logs in as one of the demo users. */
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
      const key = present({ 'idempotency-key': idempotencyKey });
      const { headers } = await request(`POST /v1/template/messages/${did}`, body, key);
      return v.parse(v.string('the answer has no dispatch-id'), headers.get('dispatch-id'));
    },

    report: async (did, jobId) => {
      const { json: page } = await request(`GET /v1/template/messages/${did}/${jobId}?limit=1000`);
      return v.parse(ReportSchema, page);
    },

    rows: async (did, jobId) => {
      const rows: ReportRow[] = [];
      for (let cursor: string | undefined = ''; cursor !== undefined; ) {
        const query = cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`;
        const { json: page } = await request(`GET /v1/template/messages/${did}/${jobId}?limit=1000${query}`);
        const { data, paging } = v.parse(PageSchema, page);
        rows.push(...data);
        cursor = paging.cursors.after;
      }
      return rows;
    },

    receiveEvents: async (url, kinds) => {
      const rotation = { 'webhook-secret-rotate': 'true' };
      const config = { url, active: true, ...present({ events: kinds }) };
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

/** The API has no way to ask: the deployment's lock, which a synchronization renews and gives back at its end, tells. */
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

/** Waits for as long as the lock is renewed. */
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
  /** `METHOD /path?query` */
  readonly route: string;
  readonly body?: unknown;
  readonly token?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
}

/** One request with JSON both ways. Throws an `ApiRefusal` for any status but 200. */
export async function call({ baseUrl, route, body, token, headers, signal }: Call) {
  const [method = '', path = ''] = route.split(' ', 2);
  const reply = await fetch(`${baseUrl}${path}`, {
    method,
    signal,
    headers: {
      // A server that closes a connection as idle may meet the next request on it.
      connection: 'close',
      'content-type': 'application/json',
      ...present({ authorization: token && `Bearer ${token}` }),
      ...headers,
    },
    ...present({ body: body === undefined ? undefined : JSON.stringify(body) }),
  });
  const text = await reply.text();
  if (reply.status !== 200) throw new ApiRefusal(route, reply.status, text);
  return { headers: reply.headers, json: JSON.parse(text) as unknown };
}

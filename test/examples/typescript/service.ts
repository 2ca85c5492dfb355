// This client takes its types from openapi.json (`npm run build`), and openapi-fetch makes the requests.
import { randomUUID } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import createClient from 'openapi-fetch';
import type { components, paths } from './service-api.ts';

export type Schemas = components['schemas'];
export type Service = Awaited<ReturnType<typeof loggedIn>>;

/** The service has refused: the meaning of `code` never changes, and `errors` has each fault with its path. */
export class Refused extends Error {
  readonly status: number;
  readonly code: Schemas['RefusalCode'] | undefined;
  readonly errors: NonNullable<Schemas['Refusal']['errors']>;

  constructor(status: number, said: Schemas['Refusal'] | Schemas['GatewayError']) {
    const refusal = 'code' in said ? said : undefined;
    super(`${status} ${refusal?.code}: ${said.message}`);
    this.status = status;
    this.code = refusal?.code;
    this.errors = refusal?.errors ?? [];
  }
}

interface Reply<Data> {
  readonly data?: Data;
  readonly error?: Schemas['Refusal'] | Schemas['GatewayError'] | undefined;
  readonly response: Response;
}

/** Returns the data of an answer; throws `Refused`. */
export async function answered<Data>(reply: Promise<Reply<Data>>): Promise<Data> {
  const { data, error, response } = await reply;
  if (data === undefined) throw new Refused(response.status, error ?? { message: response.statusText });
  return data;
}

/** Makes a client with a user's token, which is valid for an hour. */
export async function loggedIn(url: string, username: string, password: string) {
  const service = createClient<paths>({
    baseUrl: url,
    fetch: (request) => patiently(request),
    // The service expects lists in a query separated by commas.
    querySerializer: { array: { style: 'form', explode: false } },
  });
  const { access_token } = await answered(service.POST('/login', { body: { username, password } }));
  service.use({ onRequest: ({ request }) => request.headers.set('Authorization', `Bearer ${access_token}`) });
  return service;
}

/** Makes one request; repeats it for up to `seconds` while the answer is 429, after the time in Retry-After. */
async function patiently(request: Request, seconds = 90): Promise<Response> {
  const end = performance.now() + seconds * 1000;
  for (;;) {
    const reply = await fetch(request.clone(), { signal: AbortSignal.timeout(35_000) });
    const waitMs = Number(reply.headers.get('Retry-After') ?? 1) * 1000;
    if (reply.status !== 429 || !(performance.now() + waitMs <= end)) return reply;
    await setTimeout(waitMs);
  }
}

/** A send has headers for when the message may leave (Send-At, Send-Window, ...) and what it may cost (Max-Cost). */
export type SendHeaders = NonNullable<paths['/v1/template/messages/{did}']['post']['parameters']['header']>;

/** Sends a template and returns the dispatch id. The idempotency key makes it safe to repeat when no answer comes. */
export async function send(
  service: Service,
  message: Omit<Schemas['SendRequest'], 'type' | 'channel'>,
  headers: SendHeaders = {},
): Promise<string> {
  return await dispatched(
    service.POST('/v1/template/messages/{did}', {
      params: { path: { did: message.did }, header: { ...headers, 'Idempotency-Key': randomUUID() } },
      body: { type: 'template', channel: 'MESSAGING', ...message },
    }),
  );
}

/**
 * Sends again to the recipients that the first dispatch did not reach. `codes` names causes that only you know to be
 * over.
 */
export async function retry(
  service: Service,
  path: { readonly did: string; readonly dispatchId: string },
  codes?: string[],
): Promise<string> {
  return await dispatched(
    service.POST('/v1/template/messages/{did}/{dispatchId}/retry', {
      params: { path, header: { 'Idempotency-Key': randomUUID() } },
      body: { ...(codes && { codes }) },
    }),
  );
}

/** Cancels the messages of a campaign that are still pending; returns the number of dispatches. */
export async function cancelCampaign(service: Service, campaign_id: number): Promise<number> {
  for (let sum = 0; ; ) {
    const params = { query: { campaign_id } };
    const { cancelled, more } = await answered(service.DELETE('/v1/dispatches', { params }));
    sum += cancelled;
    if (!more) return sum;
  }
}

async function dispatched<Data>(reply: Promise<Reply<Data>>): Promise<string> {
  await answered(reply);
  const dispatchId = (await reply).response.headers.get('Dispatch-Id');
  if (dispatchId === null) throw new Error('the answer names no dispatch');
  return dispatchId;
}

/** Returns the rows of all recipients, once no message of the dispatch is pending. */
export async function report(service: Service, did: string, dispatchId: string): Promise<Schemas['ReportRow'][]> {
  const page = (query: { limit: number; cursor?: string }) =>
    answered(service.GET('/v1/template/messages/{did}/{dispatchId}', { params: { path: { did, dispatchId }, query } }));
  await until('the dispatch is complete', async () => ((await page({ limit: 1 })).complete ? true : undefined));
  const rows: Schemas['ReportRow'][] = [];
  for (let cursor: string | undefined; ; ) {
    const { data, paging } = await page({ limit: 1000, ...(cursor !== undefined && { cursor }) });
    rows.push(...data);
    cursor = paging.cursors.after;
    if (cursor === undefined) return rows;
  }
}

/** Polls until `ask` returns a value, and returns it. */
export async function until<T>(what: string, ask: () => Promise<T | undefined>, seconds = 90): Promise<T> {
  const end = performance.now() + seconds * 1000;
  for (;;) {
    const told = await ask();
    if (told !== undefined) return told;
    if (performance.now() > end) throw new Error(`waited ${seconds} s in vain until ${what}`);
    await setTimeout(300);
  }
}

import { expect } from 'vitest';
import { createRouter } from '../../../infra/local/router.ts';
import { routes } from '../../../infra/routes.ts';
import { type ApiReply, api, type DemoUser, tokenOf } from '../../support/api.ts';
import { thorough } from '../../support/thorough.ts';

/*
 * This second implementation of D4 and D5 uses none of the code: first comes the client (400, 403), then the DID (403),
 * then the resource. It predicts the answer to every kind of caller.
 */

export interface Caller {
  readonly user: DemoUser;
  readonly clientId: number;
  readonly crossClient: boolean;
}

/** Each client has a user, and an operator may work for any client. */
export const callers: readonly Caller[] = [
  { user: 'supervisor1001', clientId: 1001, crossClient: false },
  { user: 'supervisor1002', clientId: 1002, crossClient: false },
  { user: 'operator', clientId: 1, crossClient: true },
];

/** `means` is the client that a spelling of client_id asks for, or the text that the 400 shows. */
export interface Asked {
  readonly query?: string;
  readonly body?: unknown;
  readonly means: number | undefined | { readonly refusedAs: string };
}

export const long = '9'.repeat(2_500);
const existing = [1, 1001, 1002];
const clients = [...existing, 7777];
const spelledInQuery = (texts: readonly string[]): readonly Asked[] =>
  texts.map((text) => ({ query: `client_id=${encodeURIComponent(text)}`, means: { refusedAs: text } }));
const spelledInBody = (values: readonly unknown[]): readonly Asked[] =>
  values.map((value) => ({
    body: value,
    means: { refusedAs: typeof value === 'string' ? value : JSON.stringify(value) },
  }));

/* Each kind has one case, because all routes read client_id by the same rule (lib/access/operating-client.ts). */
const kindsInQuery: readonly Asked[] = [
  { means: undefined },
  ...clients.map((id) => ({ query: `client_id=${id}`, means: id })),
  ...spelledInQuery(['abc', '']),
  { query: 'client_id=1001&client_id=1002', means: { refusedAs: '1001,1002' } },
];
const kindsInBody: readonly Asked[] = [
  ...clients.map((id) => ({ body: id, means: id })),
  ...spelledInBody(['1001', null]),
  { query: 'client_id=1002', body: 1002, means: 1002 },
  { query: 'client_id=1001', body: 1002, means: { refusedAs: '1001 in the query, 1002 in the body' } },
];

/** A route that reads both query and body gets every spelling. `npm run test:all` uses them on all routes. */
export const everyQuery: readonly Asked[] = [
  ...kindsInQuery,
  ...spelledInQuery([
    '0',
    '-1001',
    '1001.0',
    '1e3',
    '0x3E9',
    '01001',
    ' 1001',
    '9007199254740992',
    "1' OR '1'='1",
    '１００１',
  ]),
  { query: 'client_id=1001&client_id=1001', means: { refusedAs: '1001,1001' } },
  { query: `client_id=${long}`, means: { refusedAs: `${long.slice(0, 97)}...` } },
];
export const everyBody: readonly Asked[] = [
  ...kindsInBody,
  ...spelledInBody(['', true, 1001.5, -1001, 0, 2 ** 53, [1001], { $ne: 1 }]),
  { query: 'client_id=1001', body: 1001, means: 1001 },
];

export const inQuery = thorough ? everyQuery : kindsInQuery;
export const inBody = thorough ? everyBody : kindsInBody;

export interface Answer {
  readonly status: number;
  readonly message: string | undefined;
}

export const crossClient: Answer = { status: 403, message: 'BSP_CN permission required for cross-client access' };

/** Returns the refusal of the client (D4), or the client that the request works for. */
export function clientRule(caller: Caller, { means }: Asked): Answer | number {
  if (typeof means === 'object') return { status: 400, message: `invalid client_id: ${means.refusedAs}` };
  if (means === undefined || means === caller.clientId) return caller.clientId;
  if (!caller.crossClient) return crossClient;
  return existing.includes(means) ? means : { status: 400, message: `invalid client_id: ${means}` };
}

/** The refusal of a DID or a template advises an operator without client_id to name a client (D4). */
export function advised(refusal: Answer, caller: Caller, { means }: Asked): Answer {
  if (!caller.crossClient || means !== undefined || refusal.status < 400 || refusal.message === undefined)
    return refusal;
  return { ...refusal, message: `${refusal.message}; pass client_id to work for another client than your own` };
}

export const namesOf = (asked: Asked) =>
  [asked.query, 'body' in asked ? `body ${JSON.stringify(asked.body)}` : undefined].filter(Boolean).join(' and ') ||
  'no client_id';
export const short = (text: string) => (text.length > 60 ? `${text.slice(0, 57)}...` : text);
export const withQuery = (path: string, { query }: Asked) => (query === undefined ? path : `${path}?${query}`);
export const inTheBody = (asked: Asked) => ('body' in asked ? { client_id: asked.body } : {});
export const matrix = (asked: readonly Asked[]) =>
  callers.flatMap((caller) => asked.map((one) => [caller.user, short(namesOf(one)), caller, one] as const));
export const shown = ({ status, body }: ApiReply) => ({ status, message: body?.message });

/** The texts of client 1002 are searched in these answers to client 1001. */
export const answersTo1001: string[] = [];
/** Each route, by a key like `GET /v1/templates`, was called by these users. */
export const entered = new Map<string, Set<DemoUser>>();
const routeOf = createRouter(routes);

/** Makes one request of a caller; `route` is `METHOD /path?query`. */
export async function enter(caller: Caller, route: string, body?: unknown): Promise<ApiReply> {
  const [method = '', target = ''] = route.split(' ', 2);
  const key = routeOf(method, target.split('?', 1)[0] ?? '')?.routeKey ?? 'none';
  entered.set(key, (entered.get(key) ?? new Set()).add(caller.user));
  const reply = await api(route, { token: await tokenOf(caller.user), body });
  if (reply.body?.code === 'invalid_client_id') {
    const { message } = reply.body;
    const errors = [{ path: 'client_id', message: expect.stringContaining(message) }];
    expect(reply.body).toEqual({ message, code: 'invalid_client_id', errors });
  }
  return reply;
}

/** Makes the request, and records the answer to client 1001. */
export async function call(caller: Caller, route: string, body?: unknown): Promise<ApiReply> {
  const reply = await enter(caller, route, body);
  if (caller.clientId === 1001) answersTo1001.push(reply.text);
  return reply;
}

import { inject } from 'vitest';
import { omitUndefined } from '../../lib/keys/omit-undefined.ts';
import { addressOf } from './addresses.ts';
import { onDeployedStage } from './demo.ts';
import { expectDocumented } from './documented.ts';

export interface ApiReply {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests read answers as they come and assert on their shape
  readonly body: any;
}

export interface ApiRequest {
  readonly token?: string;
  /** The body is sent as JSON, a string or bytes unchanged. */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string | undefined>>;
}

/**
 * Sends one request to the running API as a client does; `route` is `METHOD /path?query`. Fails when the answer, or an
 * accepted request, differs from the document (D48).
 */
export async function api(route: string, request: ApiRequest = {}): Promise<ApiReply> {
  return apiAt(addressOf('apiUrl'), route, request);
}

/** Sends one request to the API of another stack, as `api`. */
export async function apiAt(baseUrl: string, route: string, request: ApiRequest = {}): Promise<ApiReply> {
  const reply = await call(baseUrl, route, request);
  const [method = 'GET', path = '/'] = route.split(' ', 2);
  const { headers, body } = wireOf(request);
  await expectDocumented({ method, path, requestHeaders: new Headers(headers), requestBody: body, ...reply });
  return reply;
}

/** Sends one request to the running platform simulator, for its control routes. */
export async function platform(route: string, body?: unknown): Promise<ApiReply> {
  return call(addressOf('platformUrl'), route, body === undefined ? {} : { body });
}

/** Sends one request to any server, as `api`. */
export async function call(baseUrl: string, route: string, request: ApiRequest = {}): Promise<ApiReply> {
  const [method = 'GET', path = '/'] = route.split(' ', 2);
  const { headers, body } = wireOf(request);
  const response = await fetch(`${baseUrl}${path}`, {
    method,
    redirect: 'manual',
    headers,
    ...(body === undefined ? {} : { body: body as string }),
  });
  const text = await response.text();
  return { status: response.status, headers: response.headers, text, body: parsed(text) };
}

function wireOf({ token, body, headers }: ApiRequest) {
  const raw = body === undefined || typeof body === 'string' || body instanceof Uint8Array;
  return {
    headers: {
      ...(raw ? {} : { 'content-type': 'application/json' }),
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      ...omitUndefined(headers ?? {}),
    },
    body: raw ? (body as string | Uint8Array | undefined) : JSON.stringify(body),
  };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const tokens = new Map<string, Promise<string>>();

/** Returns the username and password of a demo user. */
export function loginOf(username: DemoUser): { readonly username: string; readonly password: string } {
  return inject('acceptance')?.logins[username] ?? { username, password: `demo-${username}` };
}

/** Returns an access token of a demo user from a real login; one login for each user and test file. */
export function tokenOf(username: DemoUser): Promise<string> {
  const known = tokens.get(username);
  if (known !== undefined) return known;
  const token = api('POST /login', { body: loginOf(username) }).then((reply) => {
    if (reply.status !== 200) throw new Error(`login of ${username} answered ${reply.status}`);
    return reply.body.access_token as string;
  });
  tokens.set(username, token);
  return token;
}

/** Calls a route as a demo user, with this body and these headers. */
export async function as(
  user: DemoUser,
  route: string,
  body?: unknown,
  headers?: ApiRequest['headers'],
): Promise<ApiReply> {
  return api(route, { token: await tokenOf(user), body, headers });
}

export type DemoUser = 'operator' | 'supervisor1001' | 'agent1001' | 'supervisor1002';

/** Polls `probe` every 100 ms until it returns a value; fails after `withinMs` and names what was awaited. */
export async function eventually<T>(what: string, probe: () => Promise<T | undefined>, withinMs = 60_000): Promise<T> {
  const deadline = Date.now() + withinMs;
  for (;;) {
    const found = await probe();
    if (found !== undefined) return found;
    if (Date.now() > deadline) throw new Error(`did not happen within ${withinMs / 1000} s: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

/**
 * Synchronizes a client's templates and waits until the worker has released the lock, at the end of its run. On a
 * deployed stage the templates exist already, and the platform does not know them.
 */
export async function synchronize(username: DemoUser, clientId?: number): Promise<void> {
  if (onDeployedStage) return;
  const token = await tokenOf(username);
  const body = clientId === undefined ? {} : { client_id: clientId };
  await eventually('a synchronization starts', async () => {
    const { status } = await api('POST /v1/templates/sync-from-platform', { token, body });
    return status === 200 ? true : undefined;
  });
  // Only a few of the files that call the API need the stores, so they load on demand.
  const { syncLock } = await import('./sync-lock.ts');
  await eventually('the synchronization ends', async () =>
    (await syncLock())['lease'] === undefined ? true : undefined,
  );
}

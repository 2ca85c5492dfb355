import { CallError, control } from './api.ts';
import { createStore } from './store.ts';

export interface Session {
  readonly username: string;
  readonly token: string;
}

/** The session is lost when the page closes. */
export const session = createStore<Session | undefined>(undefined);

export interface DemoUser {
  readonly username: string;
  readonly password: string;
  readonly client_id: number;
  /** A user with `BSP_CN` may see every client. */
  readonly permissions: readonly string[];
  readonly campaign_ids: readonly number[];
}

/** `forClient` adds this client; undefined means the user's own. */
export const askedClient = createStore<number | undefined>(undefined);

/** Requests wait until then, because the service throttles the user. */
export const waitsUntilMs = createStore(0);

/** The user is kept to sign in again when the token expires after an hour. */
let signedIn: DemoUser | undefined;
let renewing: Promise<void> | undefined;
let underWay = 0;

export function requestsUnderWay(): number {
  return underWay;
}

export interface Service {
  /** The address is null when no service runs. */
  readonly url: string | null;
  readonly users: readonly DemoUser[];
}

export interface TriedRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

export interface TriedAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** The simulator measures from the request to the end of the answer. */
  readonly duration_ms: number;
}

export class ServiceRefusal extends CallError {
  readonly status: number;
  readonly code: string;

  constructor(status: number, { code, message }: { readonly code?: string; readonly message?: string }) {
    super(message ?? `The service answered ${status}.`);
    this.status = status;
    this.code = code ?? '';
  }
}

/** Asks the service through the simulator; returns any status. */
export function ask(request: TriedRequest): Promise<TriedAnswer> {
  return control('service/try', request);
}

async function tokenOf(user: DemoUser): Promise<string> {
  const headers = { 'content-type': 'application/json' };
  const body = JSON.stringify({ username: user.username, password: user.password });
  const answer = await ask({ method: 'POST', path: '/login', headers, body });
  if (answer.status !== 200) throw new CallError(`The login was answered ${answer.status}: ${answer.body}`);
  return (JSON.parse(answer.body) as { readonly access_token: string }).access_token;
}

export async function signInAs(user: DemoUser): Promise<void> {
  const token = await tokenOf(user);
  signedIn = user;
  session.set({ username: user.username, token });
}

/** Adds the requested client when it is not the user's own. */
export function forClient(path: string): string {
  const id = askedClient.get();
  return id === undefined ? path : `${path}${path.includes('?') ? '&' : '?'}client_id=${id}`;
}

type Given = Pick<Partial<TriedRequest>, 'headers' | 'body'>;

export interface UserAnswer<T> {
  readonly value: T;
  readonly headers: Readonly<Record<string, string>>;
}

/** Asks as `answerToUser`, without the headers. */
export async function asUser<T>(method: string, path: string, given: Given = {}): Promise<T> {
  return (await answerToUser<T>(method, path, given)).value;
}

/**
 * Renews an expired token once, and waits when throttled (D54). Throws `ServiceRefusal` for other answers than 2xx,
 * `CallError` without an answer.
 */
export async function answerToUser<T>(method: string, path: string, given: Given = {}): Promise<UserAnswer<T>> {
  underWay += 1;
  try {
    const { status, body, headers } = await patiently({ ...given, method, path, headers: given.headers ?? {} });
    const value = parsed(body);
    if (status < 200 || status > 299) throw new ServiceRefusal(status, value as object);
    return { value: value as T, headers };
  } finally {
    underWay -= 1;
  }
}

const mostWaits = 3;

async function patiently(request: TriedRequest): Promise<TriedAnswer> {
  const asking = session.get()?.username;
  let renewed = false;
  for (let waits = 0; ; ) {
    await untilFree();
    // A request must not go out as a user who was chosen meanwhile.
    if (session.get()?.username !== asking) throw new CallError('Not sent: another demo user was chosen meanwhile.');
    const token = session.get()?.token ?? '';
    const type: Readonly<Record<string, string>> =
      request.body === undefined ? {} : { 'content-type': 'application/json' };
    const headers = { ...type, ...request.headers, authorization: `Bearer ${token}` };
    const answer = await ask({ ...request, headers });
    if (answer.status === 401 && !renewed && signedIn !== undefined) {
      renewed = true;
      if (session.get()?.token === token) await renew(signedIn);
    } else if (isTooMany(answer) && waits < mostWaits) {
      waits += 1;
      const seconds = Number(answer.headers['retry-after'] ?? 1) + Math.random();
      waitsUntilMs.set(Math.max(waitsUntilMs.get(), Date.now() + seconds * 1_000));
    } else return answer;
  }
}

/** Keeps the new token unless another user was chosen meanwhile. */
async function signInAgain(user: DemoUser): Promise<void> {
  const token = await tokenOf(user);
  if (session.get()?.username === user.username) session.set({ username: user.username, token });
}

/** Concurrent requests share one sign-in. */
async function renew(user: DemoUser): Promise<void> {
  renewing ??= signInAgain(user);
  try {
    await renewing;
  } finally {
    renewing = undefined;
  }
}

function isTooMany({ status, body }: TriedAnswer): boolean {
  return status === 429 && (parsed(body) as { readonly code?: string }).code === 'too_many_requests';
}

async function untilFree(): Promise<void> {
  const leftMs = waitsUntilMs.get() - Date.now();
  if (leftMs > 0) await new Promise((resolve) => setTimeout(resolve, leftMs));
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) ?? {};
  } catch {
    return {};
  }
}

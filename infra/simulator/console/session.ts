import { CallError, control } from './api.ts';
import { createStore } from './store.ts';

export interface Session {
  readonly username: string;
  readonly token: string;
}

/** The demo user as whom the page asks the service. Forgotten with the page. */
export const session = createStore<Session | undefined>(undefined);

export interface DemoUser {
  readonly username: string;
  readonly password: string;
}

export interface Service {
  /** Where the service answers on this machine; null: nowhere. */
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
  /** From the sending of the request to the end of the answer, as the simulator measured it. */
  readonly duration_ms: number;
}

/** What the service refused. */
export class ServiceRefusal extends CallError {
  readonly status: number;
  readonly code: string;

  constructor(status: number, { code, message }: { readonly code?: string; readonly message?: string }) {
    super(message ?? `The service answered ${status}.`);
    this.status = status;
    this.code = code ?? '';
  }
}

/** The service's answer to one request, whatever it is. */
export function ask(request: TriedRequest): Promise<TriedAnswer> {
  return control('service/try', request);
}

export async function signInAs({ username, password }: DemoUser): Promise<void> {
  const headers = { 'content-type': 'application/json' };
  const body = JSON.stringify({ username, password });
  const answer = await ask({ method: 'POST', path: '/login', headers, body });
  if (answer.status !== 200) throw new CallError(`The login was answered ${answer.status}: ${answer.body}`);
  session.set({ username, token: (JSON.parse(answer.body) as { readonly access_token: string }).access_token });
}

/**
 * The JSON that the service answers the demo user who is signed in; `headers` beside the token. Throws a `ServiceRefusal` for
 * every other answer than 2xx, and a `CallError` where the service does not run.
 */
export async function asUser<T>(
  method: string,
  path: string,
  given: Pick<Partial<TriedRequest>, 'headers' | 'body'> = {},
): Promise<T> {
  const type: Readonly<Record<string, string>> = given.body === undefined ? {} : { 'content-type': 'application/json' };
  const headers = { ...type, ...given.headers, authorization: `Bearer ${session.get()?.token ?? ''}` };
  const { status, body } = await ask({ ...given, method, path, headers });
  const answer = parsed(body);
  if (status < 200 || status > 299) throw new ServiceRefusal(status, answer as object);
  return answer as T;
}

function parsed(body: string): unknown {
  try {
    return JSON.parse(body) ?? {};
  } catch {
    return {};
  }
}

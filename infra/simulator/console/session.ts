import { control } from './api.ts';
import { createStore } from './store.ts';

export interface Session {
  readonly username: string;
  readonly token: string;
}

/** Who the reference asks as. Forgotten with the page. */
export const session = createStore<Session | undefined>(undefined);

export interface Service {
  readonly url: string | null;
  readonly users: readonly { readonly username: string; readonly password: string }[];
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

export function ask(request: TriedRequest): Promise<TriedAnswer> {
  return control('service/try', request);
}

export async function signInAs({ username, password }: Service['users'][number]): Promise<void> {
  const headers = { 'content-type': 'application/json' };
  const body = JSON.stringify({ username, password });
  const answer = await ask({ method: 'POST', path: '/login', headers, body });
  if (answer.status !== 200) throw new Error(`The login was answered ${answer.status}: ${answer.body}`);
  session.set({ username, token: (JSON.parse(answer.body) as { readonly access_token: string }).access_token });
}

import { ask, session, type TriedAnswer, type TriedRequest } from './session.ts';
import { createStore } from './store.ts';

export interface Filled {
  readonly values: Readonly<Record<string, string>>;
  readonly body: string;
}

export interface Tried {
  readonly number: number;
  readonly operationId: string;
  readonly atMs: number;
  readonly username: string | undefined;
  readonly filled: Filled;
  readonly answer: TriedAnswer;
}

const kept = 20;

/** The newest try is first; the list is lost when the page closes. */
export const tried = createStore<readonly Tried[]>([]);

/** Makes the request and keeps the result. Throws when the service is not reachable. */
export async function tryIt(operationId: string, filled: Filled, request: TriedRequest): Promise<Tried> {
  const username = session.get()?.username;
  const answer = await ask(request);
  const number = (tried.get()[0]?.number ?? 0) + 1;
  const one = { number, operationId, atMs: Date.now(), username, filled, answer };
  tried.set([one, ...tried.get()].slice(0, kept));
  return one;
}

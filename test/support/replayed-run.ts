import { OutOfReach } from '../../lib/aws/out-of-reach.ts';

/** A run's calls to the outside count from 0 in their order. */
export interface Call<Name extends string = string> {
  readonly number: number;
  readonly name: Name;
  readonly args: readonly unknown[];
}

export interface Reply {
  readonly call: number;
  readonly value?: unknown;
  readonly fails?: true;
  readonly atMs: number;
}

/** A run stands at its pending calls, or at its end. */
export interface Standing<End, Name extends string = string> {
  readonly open: readonly Call<Name>[];
  readonly end?: End;
}

export interface Outside<Name extends string> {
  /** Each call of a port's function waits for a reply. */
  readonly call: (name: Name) => (...args: unknown[]) => Promise<never>;
  readonly nowMs: () => number;
}

/**
 * Runs real code from the start with its replies in their order, and returns its state after the last one. The code
 * must depend on nothing else: `nowMs` is the time of the last reply.
 */
export async function standingAfter<End, Name extends string = string>(
  start: (outside: Outside<Name>) => Promise<End>,
  startedAtMs: number,
  replies: readonly Reply[],
): Promise<Standing<End, Name>> {
  const open = new Map<number, Call<Name> & { readonly answer: PromiseWithResolvers<unknown> }>();
  let calls = 0;
  let nowMs = startedAtMs;
  let end: { readonly value: End } | { readonly error: unknown } | undefined;
  const call =
    (name: Name) =>
    (...args: unknown[]) => {
      const answer = Promise.withResolvers<unknown>();
      open.set(calls, { number: calls, name, args, answer });
      calls += 1;
      return answer.promise as Promise<never>;
    };
  start({ call, nowMs: () => nowMs }).then(
    (value) => {
      end = { value };
    },
    (error: unknown) => {
      end = { error };
    },
  );
  await settled();
  for (const reply of replies) {
    const asked = open.get(reply.call);
    if (asked === undefined) throw new Error(`the run has no open call ${reply.call}: it is not deterministic`);
    open.delete(reply.call);
    nowMs = reply.atMs;
    if (reply.fails) asked.answer.reject(new OutOfReach('unavailable'));
    else asked.answer.resolve(reply.value);
    await settled();
  }
  if (end !== undefined && 'error' in end) throw end.error;
  if (end === undefined && open.size === 0) throw new Error('the run neither calls nor ends');
  const calling = [...open.values()].map(({ number, name, args }) => ({ number, name, args }));
  return { open: calling, ...(end === undefined ? {} : { end: end.value }) };
}

/** Runs all code that can continue without another reply. It waits for promises only: a timer never ends. */
function settled(): Promise<void> {
  return new Promise((resolve) => immediately(resolve));
}

/** The function is Node.js's own, even when a test has replaced the timers. */
const immediately = setImmediate;

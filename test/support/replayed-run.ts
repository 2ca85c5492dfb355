/** A call of a run to the outside, counted from 0 in the order in which they are made. */
export interface Call<Name extends string = string> {
  readonly number: number;
  readonly name: Name;
  readonly args: readonly unknown[];
}

/** What a run was told of a call, and when. */
export interface Reply {
  readonly call: number;
  readonly value?: unknown;
  readonly fails?: true;
  readonly atMs: number;
}

/** Where a run stands: the calls that wait for a reply, and how it has ended. */
export interface Standing<End, Name extends string = string> {
  readonly open: readonly Call<Name>[];
  readonly end?: End;
}

export interface Outside<Name extends string> {
  /** A port's function, of which every call waits for its reply. */
  readonly call: (name: Name) => (...args: unknown[]) => Promise<never>;
  readonly nowMs: () => number;
}

/**
 * Runs real code from its beginning with the replies that it has had, in their order, and says where it stands after the
 * last. It must depend on nothing else: `nowMs` is the time of the last reply.
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
    if (reply.fails) asked.answer.reject(new Error('unavailable'));
    else asked.answer.resolve(reply.value);
    await settled();
  }
  if (end !== undefined && 'error' in end) throw end.error;
  if (end === undefined && open.size === 0) throw new Error('the run neither calls nor ends');
  const calling = [...open.values()].map(({ number, name, args }) => ({ number, name, args }));
  return { open: calling, ...(end === undefined ? {} : { end: end.value }) };
}

/** Lets everything run that can run without another reply. Promises only: what waits for a timer waits for ever. */
function settled(): Promise<void> {
  return new Promise((resolve) => immediately(resolve));
}

/** That of Node.js, also where a test has put clocks of its own in the place of timers. */
const immediately = setImmediate;

/**
 * Emulators never cause these faults of AWS, injected into an SDK client. The plan decides each attempt of each call;
 * the SDK's own retries run outside, as in production.
 */
export type Fault =
  /** The request never leaves. */
  | { readonly kind: 'fail_before' }
  /** The request takes effect, and its answer never arrives. */
  | { readonly kind: 'lose_reply' }
  | { readonly kind: 'delay'; readonly ms: number }
  | { readonly kind: 'throttle' }
  /** Another transaction of DynamoDB held one of the items. */
  | { readonly kind: 'transaction_conflict' }
  /** A batch call skips its last `count` entries and reports them as not processed. */
  | { readonly kind: 'partial_batch'; readonly count: number };

export interface Attempt {
  /** Examples are `PutItemCommand` and `SendMessageBatchCommand`. */
  readonly command: string;
  /** The number counts the attempts of this client from 1. */
  readonly number: number;
}

export type FaultPlan = (attempt: Attempt) => Fault | undefined;

export interface FaultLog {
  readonly attempts: readonly (Attempt & { readonly fault?: Fault['kind'] })[];
}

interface MiddlewareArguments {
  input: Record<string, unknown>;
}
type Next = (args: MiddlewareArguments) => Promise<{ output: Record<string, unknown> }>;
type Middleware = (next: Next, context: { commandName?: string }) => Next;

/** The client is any of the SDK, such as DynamoDB (plain or document) and SQS. */
export interface FaultableClient {
  readonly middlewareStack: {
    // biome-ignore lint/suspicious/noExplicitAny: the stack's type differs for every client
    add(middleware: any, options: any): void;
  };
}

/** Installs the plan in the client permanently and returns the log of attempts. */
export function injectFaults(client: FaultableClient, plan: FaultPlan): FaultLog {
  const attempts: (Attempt & { fault?: Fault['kind'] })[] = [];
  // The caller's input is needed for partial batches, so they are decided here; the attempt itself is counted below.
  const cut: Middleware = (next, context) => async (args) => {
    const fault = isBatch(context.commandName) ? plan({ command: commandOf(context), number: 0 }) : undefined;
    return fault?.kind === 'partial_batch' ? await partially(args, fault.count, next) : await next(args);
  };
  const perAttempt: Middleware = (next, context) => async (args) => {
    const attempt = { command: commandOf(context), number: attempts.length + 1 };
    const fault = plan(attempt);
    attempts.push(fault === undefined ? attempt : { ...attempt, fault: fault.kind });
    if (fault?.kind === 'fail_before') throw timeout();
    if (fault?.kind === 'throttle') throw sdkError('ThrottlingException');
    if (fault?.kind === 'transaction_conflict') throw sdkError('TransactionConflictException');
    if (fault?.kind === 'delay') await new Promise((resolve) => setTimeout(resolve, fault.ms));
    const reply = await next(args);
    if (fault?.kind === 'lose_reply') throw timeout();
    return reply;
  };
  client.middlewareStack.add(cut, { step: 'initialize', name: 'partialBatches', priority: 'low' });
  client.middlewareStack.add(perAttempt, { step: 'deserialize', name: 'faultsPerAttempt', priority: 'high' });
  return { attempts };
}

/** Makes a repeatable plan: every attempt has one of `faults` with the given probability. */
export function seededFaults(seed: number, probability: number, faults: readonly Fault[]): FaultPlan {
  const random = seededRandom(seed);
  return () => (random() < probability ? faults[Math.floor(random() * faults.length)] : undefined);
}

/** Generates numbers in [0, 1), the same for the same seed (Mulberry32). */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

async function partially(args: MiddlewareArguments, count: number, next: Next): ReturnType<Next> {
  const entries = args.input['Entries'];
  if (Array.isArray(entries)) {
    const failed = entries.slice(-count).map(({ Id }) => ({ Id, SenderFault: false, Code: 'InternalError' }));
    const kept = entries.slice(0, -count);
    if (kept.length === 0) return { output: { Successful: [], Failed: failed } };
    const { output } = await next({ ...args, input: { ...args.input, Entries: kept } });
    return { output: { ...output, Failed: [...((output['Failed'] as unknown[] | undefined) ?? []), ...failed] } };
  }
  const requests = args.input['RequestItems'] as Record<string, { Keys?: unknown[] } | unknown[]>;
  const [[table, request] = ['', []]] = Object.entries(requests);
  const whole = Array.isArray(request) ? request : (request.Keys ?? []);
  const rebuilt = (part: unknown[]) => ({ [table]: Array.isArray(request) ? part : { ...request, Keys: part } });
  const leftOver = rebuilt(whole.slice(-count));
  const name = Array.isArray(request) ? 'UnprocessedItems' : 'UnprocessedKeys';
  if (whole.length <= count) return { output: { Responses: {}, [name]: leftOver } };
  const { output } = await next({ ...args, input: { ...args.input, RequestItems: rebuilt(whole.slice(0, -count)) } });
  return { output: { ...output, [name]: leftOver } };
}

function isBatch(command: string | undefined): boolean {
  return command?.includes('Batch') ?? false;
}

function commandOf({ commandName }: { commandName?: string }): string {
  return commandName ?? 'unknown';
}

function timeout(): Error {
  return Object.assign(sdkError('TimeoutError'), { message: 'injected: no reply', $fault: undefined });
}

function sdkError(name: string): Error {
  return Object.assign(new Error(`injected: ${name}`), { name, $metadata: { httpStatusCode: 400 }, $fault: 'client' });
}

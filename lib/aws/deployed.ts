import { documentClient } from './dynamodb.ts';
import { environmentVariable } from './environment.ts';
import { keptFor, type ReadSecret, secretReader } from './secrets.ts';
import { queueClient } from './sqs.ts';

export { environmentVariable, optionalVariable } from './environment.ts';

/**
 * The handler of a function: wired once, at start-up, where a function runs; nothing where a test imports the page. All of
 * the environment is read by the wiring, so that a missing variable stops the start and not a request.
 */
export function deployed<Handler>(wire: () => Handler): Handler | undefined {
  return process.env['AWS_LAMBDA_FUNCTION_NAME'] === undefined ? undefined : wire();
}

/** What `make` makes, the first time that it is asked for. */
function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}

/** The function's one client of DynamoDB. */
export const documents = /* @__PURE__ */ once(() => documentClient());

/** The function's one client of SQS. */
export const queues = /* @__PURE__ */ once(() => queueClient());

const readSecret: () => ReadSecret = /* @__PURE__ */ once(() => secretReader());

/**
 * Reads the text of the secret that a variable names, or of the one whose name is that with a suffix. The variable is read
 * at once, the secret with every call.
 */
export function secretText(variable: string): (suffix?: string) => Promise<string> {
  const read = readSecret();
  const secretId = environmentVariable(variable);
  return (suffix = '') => read(`${secretId}${suffix}`);
}

/** What `parse` makes of the secret that a variable names, kept for `keptSeconds`. */
export function secretValue<T>(
  variable: string,
  keptSeconds: number,
  parse: (text: string) => T | Promise<T>,
): () => Promise<T> {
  const text = secretText(variable);
  return keptFor(keptSeconds * 1_000, Date.now, async () => parse(await text()));
}

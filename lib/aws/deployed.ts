import { documentClient } from './dynamodb.ts';
import { environmentVariable } from './environment.ts';
import { cachedFor, type ReadSecret, secretReader } from './secrets.ts';
import { queueClient } from './sqs.ts';

export { environmentVariable, optionalVariable } from './environment.ts';

/**
 * Wires a function's handler at start-up in Lambda, and not when a test imports the page. Wiring reads all environment
 * variables, so that a missing one fails the start, not a request.
 */
export function deployed<Handler>(wire: () => Handler): Handler | undefined {
  return process.env['AWS_LAMBDA_FUNCTION_NAME'] === undefined ? undefined : wire();
}

function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}

export const documents = /* @__PURE__ */ once(() => documentClient());

export const queues = /* @__PURE__ */ once(() => queueClient());

const readSecret: () => ReadSecret = /* @__PURE__ */ once(() => secretReader());

/**
 * Reads the secret that a variable names, with an optional suffix. The variable is read now, the secret at every call.
 */
export function secretText(variable: string): (suffix?: string) => Promise<string> {
  const read = readSecret();
  const secretId = environmentVariable(variable);
  return (suffix = '') => read(`${secretId}${suffix}`);
}

export function secretValue<T>(
  variable: string,
  keptSeconds: number,
  parse: (text: string) => T | Promise<T>,
): () => Promise<T> {
  const text = secretText(variable);
  return cachedFor(keptSeconds * 1_000, Date.now, async () => parse(await text()));
}

import * as v from 'valibot';
import { graphError, messagingError, type PlatformError } from './errors.ts';

/**
 * Refuses the first fault as the graph does: code 100 with the parameter's name, or 131009 for text that is too long.
 */
export function parsedParameters<const S extends v.GenericSchema>(schema: S, given: unknown): v.InferOutput<S> {
  const parameters = typeof given === 'object' && given !== null ? given : {};
  const result = v.safeParse(schema, parameters, { abortEarly: true });
  if (result.success) return result.output;
  throw errorOfIssue(result.issues[0]);
}

function errorOfIssue(issue: v.BaseIssue<unknown>): PlatformError {
  const keys = (issue.path ?? []).map((item) => item.key);
  const name = nameOf(keys);
  if (issue.type === 'strict_object' && issue.expected === 'never') {
    const holder = keys.length === 1 ? 'the request' : `param "${nameOf(keys.slice(0, -1))}"`;
    return graphError(100, `(#100) Unexpected key "${String(keys.at(-1))}" on ${holder}.`);
  }
  if (issue.input === undefined) return graphError(100, `(#100) The parameter ${name} is required.`);
  if (issue.type === 'max_length') return messagingError(131009, `${name} is too long`);
  const allowed = [...(issue.expected ?? '').matchAll(/"([^"]+)"/g)].map((match) => match[1]?.toUpperCase());
  if (allowed.length === 0) return graphError(100, `(#100) Param ${name} must be ${kindOf(issue.expected)}.`);
  return graphError(
    100,
    `(#100) Param ${name} must be one of {${allowed.join(', ')}} - got ${JSON.stringify(issue.input)}.`,
  );
}

/** Spells a path as `template['components'][0]['type']`. */
function nameOf(keys: readonly unknown[]): string {
  const [first, ...rest] = keys;
  return `${first}${rest.map((key) => (typeof key === 'number' ? `[${key}]` : `['${key}']`)).join('')}`;
}

function kindOf(expected: string | null): string {
  if (expected === 'string') return 'a string';
  if (expected === 'Array') return 'an array';
  if (expected === 'Object') return 'a JSON object';
  return `valid: expected ${expected ?? 'another value'}`;
}

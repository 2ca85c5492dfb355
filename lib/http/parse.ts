import * as v from 'valibot';
import { type Fault, Refusal } from './refusal.ts';

/**
 * Parses a value that came from outside. Refuses with one 400 that lists every fault with its path; the message is the
 * first fault's, so a contract text such as `catalog_id is required` stands alone when it is the only fault.
 */
export function parse<const S extends v.GenericSchema>(schema: S, value: unknown): v.InferOutput<S> {
  const result = v.safeParse(schema, value);
  if (result.success) return result.output;
  const errors = result.issues.slice(0, 100).map((issue) => faultOf(issue));
  throw new Refusal('invalid_request', errors[0]?.message ?? 'invalid request', { errors });
}

/** One fault of an issue; `prefix` is the path of the value that was parsed, for parsing a large body in pieces. */
export function faultOf(issue: v.BaseIssue<unknown>, prefix = ''): Fault {
  return { path: pathOf(issue, prefix), message: messageOf(issue, prefix) };
}

function pathOf(issue: v.BaseIssue<unknown>, prefix: string): string {
  let path = prefix;
  for (const item of issue.path ?? []) {
    path += typeof item.key === 'number' ? `[${item.key}]` : `${path === '' ? '' : '.'}${clip(String(item.key))}`;
  }
  return path;
}

const unrecognizedField = 'unrecognized field';
const maxNamedFields = 20;

/** A JSON object; valibot's own objects and records take a list for one. */
export const plainObject = v.custom<Record<string, unknown>>(
  (input) => input !== null && typeof input === 'object' && !Array.isArray(input),
  'must be an object',
);

type ClosedObject<E extends v.ObjectEntries> = v.GenericSchema<
  v.InferInput<v.ObjectSchema<E, undefined>>,
  v.InferOutput<v.ObjectSchema<E, undefined>>
>;

/**
 * An object without room for unknown fields: every one of them is a fault that names it (D6), 20 at most, so that a body
 * made of unknown fields cannot fill the memory with faults. `v.strictObject` names only the first.
 */
export function closedObject<const E extends v.ObjectEntries>(entries: E): ClosedObject<E> {
  return v.pipe(
    plainObject,
    v.looseObject(entries),
    v.rawCheck(({ dataset, addIssue }) => {
      const input: unknown = dataset.value;
      if (input === null || typeof input !== 'object') return;
      const unknown = Object.keys(input).filter((key) => !Object.hasOwn(entries, key));
      for (const key of unknown.slice(0, maxNamedFields)) {
        addIssue({
          message: unrecognizedField,
          path: [
            { type: 'object', origin: 'key', input: dataset.value as Record<string, unknown>, key, value: undefined },
          ],
        });
      }
    }),
  ) as unknown as ClosedObject<E>;
}

/** A list that is measured before its items are looked at, so that an endless one costs nothing. */
export function boundedList<const S extends v.GenericSchema>(item: S, maxItems: number) {
  return v.pipe(v.array(v.unknown()), v.maxLength(maxItems), v.array(item));
}

/**
 * One sentence for one issue. valibot reports a missing or unknown key with its own text whatever the inner schema says,
 * so those two are spelled here; a message written in a schema wins; all others say what was expected and what came.
 */
export function messageOf(issue: v.BaseIssue<unknown>, prefix = ''): string {
  const path = pathOf(issue, prefix);
  if (issue.kind === 'schema' && isMissingKey(issue)) return `${path} is required`;
  const unrecognized = issue.type === 'strict_object' && issue.expected === 'never';
  if (unrecognized || issue.message === unrecognizedField) return `${unrecognizedField}: ${path}`;
  if (!issue.message.startsWith('Invalid ')) return issue.message;
  const expected = issue.expected ?? 'another value';
  return `${path === '' ? 'the value' : path} is invalid: expected ${expected}, received ${clip(issue.received)}`;
}

function isMissingKey(issue: v.BaseIssue<unknown>): boolean {
  return issue.received === 'undefined' && issue.input === undefined;
}

function clip(text: string): string {
  return text.length <= 80 ? text : `${text.slice(0, 77)}...`;
}

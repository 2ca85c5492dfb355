import * as v from 'valibot';
import { unrecognizedField } from './closed-object.ts';
import { nearHint } from './near-name.ts';
import { type Fault, Refusal } from './refusal.ts';

/**
 * Parses a value that came from outside. Refuses with one 400 that lists every fault with its path; the message is the
 * first fault's, so a contract text such as `catalog_id is required` stands alone when it is the only fault.
 */
export function parse<const S extends v.GenericSchema>(schema: S, value: unknown): v.InferOutput<S> {
  const result = v.safeParse(schema, value);
  if (result.success) return result.output as v.InferOutput<S>;
  const errors = result.issues.map(faultOf).slice(0, 100);
  throw new Refusal('invalid_request', errors[0]?.message ?? 'invalid request', { errors });
}

/** The fault that an issue stands for, with its path and sentence. */
export function faultOf(issue: v.BaseIssue<unknown>): Fault {
  return faultWithin('', issue);
}

/** The same for a value that was parsed by itself: `prefix` is its path in the whole. */
export function faultWithin(prefix: string, issue: v.BaseIssue<unknown>): Fault {
  return { path: pathOf(issue, prefix), message: messageOf(issue, prefix) };
}

function pathOf(issue: v.BaseIssue<unknown>, prefix: string): string {
  let path = prefix;
  for (const item of issue.path ?? []) {
    path += typeof item.key === 'number' ? `[${item.key}]` : `${path === '' ? '' : '.'}${clip(String(item.key))}`;
  }
  return path;
}

/**
 * One sentence for one issue. valibot reports a missing or unknown key with its own text whatever the inner schema says,
 * so those two are spelled here; a message written in a schema wins; all others say what was expected and what came.
 */
export function messageOf(issue: v.BaseIssue<unknown>, prefix = ''): string {
  const path = pathOf(issue, prefix);
  if (issue.kind === 'schema' && isMissingKey(issue)) return `${path} is required`;
  if (issue.type === 'strict_object' && issue.expected === 'never') return `${unrecognizedField}: ${path}`;
  if (issue.message.startsWith(unrecognizedField)) {
    return `${unrecognizedField}: ${path}${issue.message.slice(unrecognizedField.length)}`;
  }
  if (!issue.message.startsWith('Invalid ')) return issue.message;
  const expected = issue.expected ?? 'another value';
  const fault = `${path === '' ? 'the value' : path} is invalid: expected ${expected}, received ${clip(issue.received)}`;
  return `${fault}${issue.type === 'picklist' ? hintAmong(expected, issue.input) : ''}`;
}

/** `expected` lists the words: `("image_url" | "video_url")`. */
function hintAmong(expected: string, input: unknown): string {
  const words = [...expected.matchAll(/"([^"]*)"/g)].map(([, word = '']) => word);
  return typeof input === 'string' ? nearHint(input, words) : '';
}

function isMissingKey(issue: v.BaseIssue<unknown>): boolean {
  return issue.received === 'undefined' && issue.input === undefined;
}

/** A text of a client, short enough for a sentence. */
export function clip(text: string): string {
  return text.length <= 80 ? text : `${text.slice(0, 77)}...`;
}

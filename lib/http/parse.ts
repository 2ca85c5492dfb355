import * as v from 'valibot';
import { unrecognizedField } from './closed-object.ts';
import { didYouMean } from './closest-name.ts';
import { jsonExcerpt } from './json-excerpt.ts';
import { type Fault, Refusal } from './refusal.ts';

/**
 * Refuses with one 400 that lists every fault with its path. Its message is the first fault's, as contract texts such
 * as `catalog_id is required` demand.
 */
export function parse<const S extends v.GenericSchema>(schema: S, value: unknown): v.InferOutput<S> {
  const result = v.safeParse(schema, value);
  if (result.success) return result.output as v.InferOutput<S>;
  const errors = result.issues.map(faultOf).slice(0, 100);
  throw new Refusal('invalid_request', errors[0]?.message ?? 'invalid request', { errors });
}

export function faultOf(issue: v.BaseIssue<unknown>): Fault {
  return faultWithin('', issue);
}

/** Returns the fault of a value that was parsed alone; `prefix` is its path in the whole. */
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
 * Words one issue in one sentence. valibot ignores inner messages for missing and unknown keys, so this function words
 * those. A schema's message wins. All others say what was expected and received.
 */
export function messageOf(issue: v.BaseIssue<unknown>, prefix = ''): string {
  const path = pathOf(issue, prefix);
  if (issue.kind === 'schema' && isMissingKey(issue)) return `${path} is required`;
  if (issue.type === 'strict_object' && issue.expected === 'never') return `${unrecognizedField}: ${path}`;
  if (issue.message.startsWith(unrecognizedField)) {
    return `${unrecognizedField}: ${path}${issue.message.slice(unrecognizedField.length)}`;
  }
  if (!issue.message.startsWith('Invalid ')) return issue.message;
  const fault = `${path === '' ? 'the value' : path} is invalid: expected ${expectedOf(issue)}, received ${receivedOf(issue)}`;
  return `${fault}${issue.type === 'picklist' ? hintAmong(wordsOf(issue), issue.input) : ''}`;
}

const kindsOfValue: Readonly<Record<string, string>> = {
  string: 'a text',
  number: 'a number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  loose_object: 'an object',
  strict_object: 'an object',
  integer: 'a whole number',
  safe_integer: 'a whole number',
  finite: 'a number',
};

function expectedOf(issue: v.BaseIssue<unknown>): string {
  const { type, requirement } = issue;
  const unit = Array.isArray(issue.input) ? 'items' : 'characters';
  switch (type) {
    case 'literal':
    case 'picklist':
      return wordsOf(issue).join(' or ') || 'another value';
    case 'non_empty':
      return Array.isArray(issue.input) ? 'a list that is not empty' : 'a text that is not empty';
    case 'min_value':
      return `at least ${requirement}`;
    case 'max_value':
      return `at most ${requirement}`;
    case 'min_length':
      return `at least ${requirement} ${unit}`;
    case 'max_length':
      return `at most ${requirement} ${unit}`;
    default:
      return kindsOfValue[type] ?? 'another value';
  }
}

function receivedOf({ type, input, received }: v.BaseIssue<unknown>): string {
  return type === 'min_length' || type === 'max_length' ? received : jsonExcerpt(input);
}

function wordsOf({ expected }: v.BaseIssue<unknown>): string[] {
  return [...(expected ?? '').matchAll(/"([^"]*)"/g)].map(([, word = '']) => word);
}

function hintAmong(words: readonly string[], input: unknown): string {
  return typeof input === 'string' ? didYouMean(input, words) : '';
}

function isMissingKey(issue: v.BaseIssue<unknown>): boolean {
  return issue.received === 'undefined' && issue.input === undefined;
}

export function clip(text: string): string {
  return text.length <= 80 ? text : `${text.slice(0, 77)}...`;
}

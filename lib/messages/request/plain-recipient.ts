import type { Recipient } from '../dispatch/head.ts';
import { addressForm } from './recipient-address.ts';

/** All limits of the platform are lower; recipient-rules.ts has the exact ones. */
export const maxValueLength = 4_096;

/** A list of values has so many at most. */
export const maxValues = { header: 10, body: 200, buttons: 10 } as const;

const fields = ['to', 'params'];
const valueFields = Object.keys(maxValues) as (keyof typeof maxValues)[];

/**
 * Tells cheaply that `RecipientSchema` would return an equal recipient with its fields in this order. False means that
 * the schema decides, and words the faults. The value must be parsed JSON.
 */
export function isPlainRecipient(value: unknown): value is Recipient {
  if (!hasOnly(value, fields)) return false;
  const { to, params } = value;
  return typeof to === 'string' && addressForm.test(to) && (params === undefined || isPlainParams(params));
}

function isPlainParams(params: unknown): boolean {
  return (
    hasOnly(params, valueFields) &&
    valueFields.every((field) => params[field] === undefined || isPlainList(params[field], maxValues[field]))
  );
}

function isPlainList(list: unknown, maxItems: number): boolean {
  return Array.isArray(list) && list.length <= maxItems && list.every(isPlainText);
}

function isPlainText(value: unknown): boolean {
  return typeof value === 'string' && value.length <= maxValueLength;
}

/** Repeats are found by their JSON (duplicates.ts), so the order of the fields matters. */
function hasOnly(value: unknown, known: readonly string[]): value is Readonly<Record<string, unknown>> {
  if (value === null || typeof value !== 'object' || Array.isArray(value)) return false;
  let next = 0;
  for (const key in value) {
    next = known.indexOf(key, next) + 1;
    if (next === 0) return false;
  }
  return true;
}

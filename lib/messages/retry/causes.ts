import { type RetryAdvice, retryAdviceOf } from '../../platform/failure.ts';
import outcomeCodes from '../report/outcome-codes.json' with { type: 'json' };

const words: Readonly<Record<string, { readonly retry: string } | undefined>> = outcomeCodes;

/**
 * Tells whether the cause of a code (the platform's or our own) may pass (D57). Returns undefined for a code in neither
 * table.
 */
export function adviceOfCode(code: string): RetryAdvice | undefined {
  if (/^(?:0|[1-9]\d{0,9})$/.test(code)) return retryAdviceOf(Number(code));
  const name = /^http_\d{3}$/.test(code) ? 'http_<status>' : code;
  return Object.hasOwn(words, name) ? (words[name]?.retry as RetryAdvice) : undefined;
}

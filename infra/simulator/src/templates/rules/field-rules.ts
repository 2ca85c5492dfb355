import { graphError } from '../../errors.ts';
import type { Category, Creation } from '../definition.ts';
import { invalid } from './refusals.ts';

const secondsOf: Readonly<Record<Category, { readonly least: number; readonly most: number }>> = {
  AUTHENTICATION: { least: 30, most: 900 },
  UTILITY: { least: 30, most: 43_200 },
  MARKETING: { least: 43_200, most: 2_592_000 },
};

/**
 * Checks `message_send_ttl_seconds` (2.9): a range for each category, or -1 for 30 days, which MARKETING does not
 * allow.
 */
export function checkTimeToLive(category: Category, seconds: number | undefined): void {
  if (seconds === undefined || (seconds === -1 && category !== 'MARKETING')) return;
  const { least, most } = secondsOf[category];
  if (seconds >= least && seconds <= most) return;
  throw graphError(
    100,
    `(#100) Param message_send_ttl_seconds must be ${least} to ${most} for ${category} - got ${seconds}.`,
  );
}

/** Checks `optimization_spec` (9.6): only MARKETING may have a maximum price. */
export function checkOptimization(category: Category, spec: Creation['optimization_spec']): void {
  if (spec !== undefined && category !== 'MARKETING') {
    throw invalid(`optimization_spec is not for ${category} templates`);
  }
}

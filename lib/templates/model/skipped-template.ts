import { log } from '../../observe/log.ts';
import { count } from '../../observe/metrics.ts';

/**
 * Why a template of the platform is passed over: its JSON is nested too deep or is too large to be held here, it has no form
 * that is understood, or the table refuses it.
 */
export type SkipReason = 'too_deep' | 'too_large' | 'unreadable' | 'refused_by_table';

/** A template that is there, and of which the service keeps what it had, if anything. It is not gone, and stops no other. */
export interface SkippedTemplate {
  /** The platform's, as far as it could be read. */
  readonly platformId: string | undefined;
  readonly reason: SkipReason;
}

/** Characters of an id that are logged; the platform's have 16. */
const longestId = 40;

/**
 * Logs what was passed over. What the platform has just told of, or a send has met, is counted and rings; a synchronization
 * meets the same templates every time, and tells their number to its client (`sync.completed`).
 */
export function reportSkipped(
  skipped: readonly SkippedTemplate[],
  where: { readonly wabaId: string; readonly syncId?: string },
): void {
  for (const { platformId, reason } of skipped) {
    log('template.skipped', { ...where, templateId: platformId?.slice(0, longestId), code: reason });
  }
  if (skipped.length > 0 && where.syncId === undefined) count('TemplatesSkipped', skipped.length);
}

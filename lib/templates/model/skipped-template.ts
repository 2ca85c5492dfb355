import { log } from '../../observe/log.ts';
import { count } from '../../observe/metrics.ts';

export type SkipReason = 'too_deep' | 'too_large' | 'unreadable' | 'refused_by_table';

/** The service does not take over this template. Its stored copy stays, and the other templates go on. */
export interface SkippedTemplate {
  /** The platform gave it this id, if the id could be read. */
  readonly platformId: string | undefined;
  readonly reason: SkipReason;
}

/** The log cuts ids; the platform's have 16 characters. */
const longestId = 40;

/**
 * Reports skipped templates: those of a hint or a send count towards an alarm. A synchronization meets the same ones
 * every time, so it only reports their number (`sync.completed`).
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

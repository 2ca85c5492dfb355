import type { Waba } from '../../access/directory.ts';
import { atPlatform } from '../../platform/refusals.ts';
import { templateNotFound } from '../model/document.ts';
import type { FoundTemplate } from '../model/find-template.ts';
import type { PlatformTemplates } from '../model/platform-templates.ts';
import type { TemplateRow } from '../model/row.ts';
import { type ReadingPorts, storeReading } from '../model/store-reading.ts';
import { contentHash, goneUpstream, isAsStored, isFresh } from '../model/stored-fact.ts';
import type { PlatformTemplate } from '../model/template.ts';

export interface CurrentTemplatePorts extends ReadingPorts {
  readonly platformTemplates: Pick<PlatformTemplates, 'find'>;
  readonly nowMs: () => number;
}

export interface CurrentTemplate {
  readonly template: PlatformTemplate;
  /** The rows carry the template's present status and category. */
  readonly rows: readonly TemplateRow[];
  readonly readAtMs: number;
  /** Its status and category are stored since then. */
  readonly sinceMs: number;
  /** The platform does not list the template yet, which is as sent at its creation. */
  readonly asSent?: true;
}

/**
 * Returns the stored template as the platform has it now (D20). A reading that differs, or replaces an old copy, is
 * stored (`storeReading`). Refuses with 404 a template that is gone upstream, and as D7.
 */
export async function currentTemplate(
  ports: CurrentTemplatePorts,
  waba: Waba,
  found: FoundTemplate,
): Promise<CurrentTemplate> {
  const { fact, rows } = found;
  const readAtMs = ports.nowMs();
  const template = await atPlatform(() => ports.platformTemplates.find(waba, fact.template));
  if (template === undefined) {
    // The template is just created and never seen since: lists lag.
    if (fact.readAtMs === 0) return { template: fact.template, rows, readAtMs, sinceMs: fact.sinceMs, asSent: true };
    throw templateNotFound();
  }
  if (goneUpstream(template)) throw templateNotFound();
  if (!isFresh(fact, readAtMs) || contentHash(template) !== contentHash(fact.template)) {
    await storeReading(ports, { waba, before: fact, rows: async () => rows, template, readAtMs });
  }
  const { status, category } = template;
  const sinceMs = isAsStored(template, fact) ? fact.sinceMs : readAtMs;
  return { template, rows: rows.map((row) => ({ ...row, status, category })), readAtMs, sinceMs };
}

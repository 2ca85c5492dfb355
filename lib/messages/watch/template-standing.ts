import { PlatformFailure } from '../../platform/failure.ts';
import { goneUpstream } from '../../templates/model/fact.ts';
import type { PlatformTemplates } from '../../templates/model/platform-templates.ts';
import type { PlatformTemplate } from '../../templates/model/template.ts';
import { templateKey } from '../../templates/model/template-key.ts';
import type { TemplateStore } from '../../templates/model/template-store.ts';
import type { JobHead } from '../job.ts';

/** What a parked job is to do about its template: go on, fail, or wait longer. */
export type Standing = 'back' | 'disabled' | 'gone' | 'waiting';

export interface StandingPorts {
  readonly templates: Pick<TemplateStore, 'storedFacts'>;
  readonly platformTemplates: Pick<PlatformTemplates, 'find'>;
}

/**
 * How the template of a job stands, by what was stored of it after `sinceMs`: the platform's word about a change has it read
 * again within seconds (D42), and its APPROVED counts. Otherwise, and when `mayAsk`, by the platform itself. Of a platform
 * that does not answer nothing follows. A template that is rejected or in review may be approved again.
 */
export async function templateStanding(
  { wabaId, credential, templateName: name, templateLanguage: language }: JobHead,
  { sinceMs, mayAsk }: { readonly sinceMs: number; readonly mayAsk: boolean },
  ports: StandingPorts,
): Promise<Standing> {
  const key = templateKey({ wabaId, name, language });
  const fact = (await ports.templates.storedFacts([key])).get(key);
  const isLater = fact !== undefined && !fact.deleted && fact.readAtMs > sinceMs;
  if (isLater && fact.template.status === 'APPROVED') return 'back';
  if (!mayAsk) return 'waiting';
  try {
    return standingOf(await ports.platformTemplates.find({ wabaId, credential }, { name, language }));
  } catch (error) {
    if (error instanceof PlatformFailure) return 'waiting';
    throw error;
  }
}

function standingOf(template: PlatformTemplate | undefined): Standing {
  if (template === undefined || goneUpstream(template)) return 'gone';
  if (template.status === 'APPROVED') return 'back';
  return template.status === 'DISABLED' ? 'disabled' : 'waiting';
}

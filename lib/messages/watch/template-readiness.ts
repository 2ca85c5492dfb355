import { PlatformFailure } from '../../platform/failure.ts';
import type { PlatformTemplates } from '../../templates/model/platform-templates.ts';
import { goneUpstream } from '../../templates/model/stored-fact.ts';
import type { PlatformTemplate } from '../../templates/model/template.ts';
import { templateKey } from '../../templates/model/template-key.ts';
import type { TemplateStore } from '../../templates/model/template-store.ts';
import type { DispatchHead } from '../dispatch/head.ts';

/** By its template's state, a parked dispatch goes on, fails, or waits. */
export type TemplateReadiness = 'back' | 'disabled' | 'gone' | 'rejected' | 'waiting';

export interface ReadinessPorts {
  readonly templates: Pick<TemplateStore, 'storedFacts'>;
  readonly platformTemplates: Pick<PlatformTemplates, 'find'>;
  /** Stores what the platform has answered at `readAtMs`, as a synchronization does. Never throws. */
  readonly keepReading: (head: DispatchHead, template: PlatformTemplate | undefined, readAtMs: number) => Promise<void>;
}

/**
 * A stored APPROVED from after `sinceMs` counts (a hint has it read within seconds, D42); otherwise, if `mayAsk`, the
 * platform's answer, which is stored. No answer means waiting.
 */
export async function templateReadiness(
  head: DispatchHead,
  { sinceMs, nowMs, mayAsk }: { readonly sinceMs: number; readonly nowMs: number; readonly mayAsk: boolean },
  ports: ReadinessPorts,
): Promise<TemplateReadiness> {
  const { wabaId, credential, templateName: name, templateLanguage: language } = head;
  const key = templateKey({ wabaId, name, language });
  const fact = (await ports.templates.storedFacts([key])).get(key);
  const isLater = fact !== undefined && !fact.deleted && fact.readAtMs > sinceMs;
  if (isLater && fact.template.status === 'APPROVED') return 'back';
  if (!mayAsk) return 'waiting';
  try {
    const template = await ports.platformTemplates.find({ wabaId, credential }, { name, language });
    await ports.keepReading(head, template, nowMs);
    return readinessOf(template);
  } catch (error) {
    if (error instanceof PlatformFailure) return 'waiting';
    throw error;
  }
}

function readinessOf(template: PlatformTemplate | undefined): TemplateReadiness {
  if (template === undefined || goneUpstream(template)) return 'gone';
  if (template.status === 'APPROVED') return 'back';
  if (template.status === 'REJECTED') return 'rejected';
  return template.status === 'DISABLED' ? 'disabled' : 'waiting';
}

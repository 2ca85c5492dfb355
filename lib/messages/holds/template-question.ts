import type { LogEvent, LogFacts } from '../../observe/log.ts';
import { PlatformFailure } from '../../platform/failure.ts';
import type { PlatformTemplates } from '../../templates/model/platform-templates.ts';
import { goneUpstream } from '../../templates/model/stored-fact.ts';
import type { PlatformTemplate } from '../../templates/model/template.ts';
import { templateKey } from '../../templates/model/template-key.ts';
import type { TemplateStore } from '../../templates/model/template-store.ts';
import type { DispatchHead } from '../dispatch/head.ts';
import type { Settlement } from '../dispatch/item.ts';
import { notApproved } from '../request/parameter-contract.ts';
import type { HeldBy, HoldRule } from './hold.ts';
import { endedByReading } from './hold-ends.ts';
import type { HoldsOfWabas } from './hold-store.ts';
import { mayStillAsk, readAs, readingTaken } from './questions.ts';

export type AskedTemplate = Pick<DispatchHead, 'did' | 'wabaId' | 'credential' | 'templateName' | 'templateLanguage'>;

export interface TemplateQuestionPorts {
  readonly wabas: Pick<HoldsOfWabas, 'change'>;
  readonly templates: Pick<TemplateStore, 'storedFacts'>;
  readonly platformTemplates: Pick<PlatformTemplates, 'find'>;
  /** Stores what the platform has answered at `readAtMs`, as a synchronization does. Never throws. */
  readonly keepReading: (
    asked: AskedTemplate,
    template: PlatformTemplate | undefined,
    readAtMs: number,
  ) => Promise<void>;
  readonly nowMs: () => number;
  readonly log: (event: LogEvent, facts: LogFacts) => void;
}

/**
 * Asks whether a template's hold is over (D46), if that is due and no other sender asks. The answer ends the hold, or is
 * its verdict. Rejects when the store cannot be reached: the lease then ends.
 */
export async function askTemplate(
  asked: AskedTemplate,
  { scope, hold: { sinceMs } }: HeldBy,
  ports: TemplateQuestionPorts,
): Promise<void> {
  const { wabas, nowMs, log } = ports;
  const { wabaId } = asked;
  const takenMs = nowMs();
  let isOwn = false;
  const taken = await wabas.change(wabaId, (holds) => {
    const next = holds.holds[scope]?.sinceMs === sinceMs ? readingTaken(scope, takenMs)(holds) : holds;
    isOwn = next !== holds;
    return next;
  });
  const { asks: ask, askedUntilMs: untilMs } = taken?.holds[scope] ?? {};
  if (!isOwn || ask === undefined || untilMs === undefined) return;
  // A process may have stood still meanwhile: another sender asks once the lease is over.
  if (!mayStillAsk({ untilMs }, nowMs())) return;
  const standing = await standingOf(asked, sinceMs, ports);
  const said = typeof standing === 'object' ? { ...standing, atMs: takenMs } : standing;
  const rule: HoldRule =
    said === 'back' ? endedByReading(scope, sinceMs, nowMs()) : readAs({ scope, sinceMs, ask }, said, nowMs());
  await wabas.change(wabaId, rule);
  if (standing === 'back') log('hold.ended', { wabaId, scope });
}

/**
 * A stored APPROVED that is younger than the hold counts (a hint has it read within seconds, D42), otherwise the
 * platform's answer, which is stored. Returns how messages end, `unanswered`, or undefined while the template is to be
 * awaited.
 */
async function standingOf(
  asked: AskedTemplate,
  sinceMs: number,
  { templates, platformTemplates, keepReading, nowMs }: TemplateQuestionPorts,
): Promise<Settlement | 'back' | 'unanswered' | undefined> {
  const { wabaId, credential, templateName: name, templateLanguage: language } = asked;
  const key = templateKey({ wabaId, name, language });
  const fact = (await templates.storedFacts([key])).get(key);
  const isLater = fact !== undefined && !fact.deleted && fact.readAtMs > sinceMs;
  if (isLater && fact.template.status === 'APPROVED') return 'back';
  const readAtMs = nowMs();
  try {
    const template = await platformTemplates.find({ wabaId, credential }, { name, language });
    await keepReading(asked, template, readAtMs);
    return readOf(template);
  } catch (error) {
    if (error instanceof PlatformFailure) return 'unanswered';
    throw error;
  }
}

function readOf(template: PlatformTemplate | undefined): Settlement | 'back' | undefined {
  if (template === undefined || goneUpstream(template)) return { state: 'failed', code: 'template_deleted' };
  const { status } = template;
  if (status === 'APPROVED') return 'back';
  // A template that is disabled or that a review rejects is never sent again as its messages were composed.
  if (status === 'DISABLED') return { state: 'failed', code: '132016' };
  return status === 'REJECTED' ? { state: 'failed', code: 'template_changed', reason: notApproved(status) } : undefined;
}

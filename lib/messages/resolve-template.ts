import { Refusal } from '../http/refusal.ts';
import { log } from '../observe/log.ts';
import { PlatformFailure } from '../platform/failure.ts';
import { refusalOf } from '../platform/refusals.ts';
import type { PlatformTemplates } from '../platform/templates.ts';
import { goneUpstream } from '../templates/fact.ts';
import type { TemplateStore } from '../templates/store.ts';
import type {
  ClientTemplate,
  PlatformTemplate,
  StoredFact,
  TemplateForSending,
  TemplatesForSending,
} from '../templates/template.ts';
import { deletedEvents, statusChangedEvents } from '../templates/template-event.ts';
import { templateKey } from '../templates/template-key.ts';
import type { EventSink } from '../webhooks/event.ts';

/** D23. */
const freshForMs = 300_000;

export interface ResolutionPorts {
  readonly templates: TemplatesForSending & Pick<TemplateStore, 'stateOf' | 'writeUpstream'>;
  readonly events: EventSink;
  readonly platformTemplates: Pick<PlatformTemplates, 'find'>;
  readonly nowMs: () => number;
}

export interface WantedTemplate {
  readonly clientId: number;
  readonly waba: { readonly wabaId: string; readonly credential: string; readonly clientIds: readonly number[] };
  readonly name: string;
  readonly language: string;
}

export interface ResolvedTemplate {
  readonly template: PlatformTemplate;
  /** What the client knows of it; absent until its first synchronization. */
  readonly client?: ClientTemplate;
  /** The platform did not answer, so an old copy was used (D23, D26). */
  readonly storedCopyUsed: boolean;
}

/**
 * The template that a send names (D23): the stored copy when it was read within 5 minutes, else the platform's answer,
 * which is stored, also that it is gone; the old copy when the platform does not answer. Refuses with 404 when there is none, and with 502 (429
 * when throttled, 400 when refused) when the platform does not answer and nothing is stored.
 */
export async function resolveTemplate(wanted: WantedTemplate, ports: ResolutionPorts): Promise<ResolvedTemplate> {
  const { clientId, waba, name, language } = wanted;
  const stored = await ports.templates.find({ clientId, wabaId: waba.wabaId, name, language });
  const readAtMs = ports.nowMs();
  if (stored !== undefined && readAtMs - stored.fact.readAtMs < freshForMs) return fromStore(stored, false);
  let template: PlatformTemplate | undefined;
  try {
    template = await ports.platformTemplates.find(waba, { name, language });
  } catch (error) {
    if (!(error instanceof PlatformFailure)) throw error;
    if (stored === undefined) throw refusalOf(error);
    return fromStore(stored, true);
  }
  const reading = { wanted, stored, readAtMs };
  try {
    if (template === undefined) await markGone(reading, ports);
    else {
      await tellDifference(template, reading, ports);
      await ports.templates.refresh({ wabaId: waba.wabaId, clientIds: waba.clientIds }, template, readAtMs);
    }
  } catch (error) {
    // The answer is at hand, and the next send asks the platform again: no reason to refuse this one.
    log('template.not_stored', { wabaId: waba.wabaId, error: error instanceof Error ? error.name : typeof error });
  }
  if (template === undefined || goneUpstream(template)) throw noTemplate();
  return resolved(template, stored, false);
}

interface Reading {
  readonly wanted: WantedTemplate;
  readonly stored: TemplateForSending | undefined;
  readonly readAtMs: number;
}

/**
 * Tells every client of the WABA of another status or category (D34), as a synchronization does: before it is written, so
 * that what could not be told is seen, and told, by the next one who reads. It throws then, and nothing is written.
 */
async function tellDifference(
  template: PlatformTemplate,
  { wanted, stored, readAtMs }: Reading,
  { templates, events }: ResolutionPorts,
): Promise<void> {
  const before = stored?.fact;
  if (before === undefined || before.deleted) return;
  if (before.template.status === template.status && before.template.category === template.category) return;
  const { wabaId, clientIds } = wanted.waba;
  const { rows } = await templates.stateOf(templateKey({ wabaId, ...template }), clientIds);
  const announced = { ...template, wabaId };
  // Sends that read side by side compare with the same reading, and tell one event.
  const occasion = { occasion: before.readAtMs === 0 ? readAtMs : before.readAtMs, nowMs: readAtMs };
  await events.send(
    goneUpstream(template) ? deletedEvents(announced, rows, readAtMs) : statusChangedEvents(announced, rows, occasion),
  );
}

/**
 * Tells and marks that a template is gone, as a synchronization does. One that the platform never listed is left alone: it
 * was created a moment ago, and lists lag.
 */
async function markGone({ wanted, stored, readAtMs }: Reading, { templates, events }: ResolutionPorts): Promise<void> {
  const before = stored?.fact;
  if (before === undefined || before.deleted || before.readAtMs === 0) return;
  const { wabaId, clientIds } = wanted.waba;
  const key = templateKey({ wabaId, ...before.template });
  const { rows } = await templates.stateOf(key, clientIds);
  await events.send(deletedEvents({ ...before.template, wabaId }, rows, readAtMs));
  const having = rows.map(({ clientId }) => clientId);
  await templates.writeUpstream([{ kind: 'gone', templateKey: key, clientIds: having, readAtMs }]);
}

function fromStore(stored: TemplateForSending, storedCopyUsed: boolean): ResolvedTemplate {
  const { template, deleted }: StoredFact = stored.fact;
  if (deleted) throw noTemplate();
  return resolved(template, stored, storedCopyUsed);
}

function resolved(
  template: PlatformTemplate,
  stored: TemplateForSending | undefined,
  storedCopyUsed: boolean,
): ResolvedTemplate {
  return { template, storedCopyUsed, ...(stored?.client === undefined ? {} : { client: stored.client }) };
}

function noTemplate(): Refusal {
  return new Refusal('template_not_found', 'no template for the requested name/language');
}

import { Refusal } from '../../http/refusal.ts';
import { present } from '../../keys/present.ts';
import { log } from '../../observe/log.ts';
import { nameOf } from '../../observe/name-of.ts';
import { PlatformFailure } from '../../platform/failure.ts';
import { goneUpstream, isFresh } from '../../templates/model/fact.ts';
import type { PlatformTemplates } from '../../templates/model/platform-templates.ts';
import type {
  ClientTemplate,
  PlatformTemplate,
  StoredFact,
  TemplateForSending,
  TemplatesForSending,
} from '../../templates/model/template.ts';
import { deletedEvents, statusChangedEvents } from '../../templates/model/template-event.ts';
import { templateKey } from '../../templates/model/template-key.ts';
import type { TemplateStore } from '../../templates/model/template-store.ts';
import type { EventSink } from '../../webhooks/event.ts';
import { type ParameterContract, parameterContract } from '../request/parameter-contract.ts';
import { type Asker, askOnce, type QuestionPorts, tolerated } from './questions.ts';

export interface ResolutionPorts extends QuestionPorts {
  readonly templates: TemplatesForSending & Pick<TemplateStore, 'stateOf' | 'writeUpstream'>;
  readonly events: EventSink;
  readonly platformTemplates: Pick<PlatformTemplates, 'lookUp'>;
}

export interface WantedTemplate extends Asker {
  readonly waba: { readonly wabaId: string; readonly credential: string; readonly clientIds: readonly number[] };
  readonly name: string;
  readonly language: string;
}

export interface ResolvedTemplate {
  readonly template: PlatformTemplate;
  readonly contract: ParameterContract;
  /** What the client knows of it; absent until its first synchronization. */
  readonly client?: ClientTemplate;
  /** The platform did not answer, so an old copy was used (D23, D26). */
  readonly storedCopyUsed: boolean;
}

/**
 * The template that a send names, and what a send of it must carry (D23). A stored copy that can be sent is used when
 * it was read within 5 minutes, or when the platform does not answer. Else the platform is asked and its answer stored.
 * Refuses with 404 (naming the languages there are), 422, and as `askOnce` does.
 */
export async function resolveTemplate(wanted: WantedTemplate, ports: ResolutionPorts): Promise<ResolvedTemplate> {
  const { clientId, waba, name, language } = wanted;
  const question = templateKey({ wabaId: waba.wabaId, name, language });
  let stored: TemplateForSending | undefined;
  const known = async () => {
    stored = await ports.templates.find({ clientId, wabaId: waba.wabaId, name, language });
    const contract = stored === undefined ? undefined : contractOf(stored.fact);
    if (stored === undefined || contract === undefined) return undefined;
    return await renewed(question, { stored, contract, wanted }, ports);
  };
  const changedAtMs = () => stored?.fact.readAtMs ?? 0;
  const ask = (askedAtMs: number) => askPlatform({ wanted, stored, readAtMs: askedAtMs }, ports);
  return await askOnce({ name: question, known, changedAtMs, ask }, wanted, ports);
}

/** Undefined for a copy by which the send would have to be refused. */
function contractOf({ template, deleted }: StoredFact): ParameterContract | undefined {
  if (deleted) return undefined;
  try {
    return parameterContract(template);
  } catch (error) {
    if (error instanceof Refusal) return undefined;
    throw error;
  }
}

interface Sendable {
  readonly wanted: WantedTemplate;
  readonly stored: TemplateForSending;
  readonly contract: ParameterContract;
}

/** A copy that can be sent, read again when it is old. */
async function renewed(
  question: string,
  { wanted, stored, contract }: Sendable,
  ports: ResolutionPorts,
): Promise<ResolvedTemplate> {
  const copy = { template: stored.fact.template, contract, ...clientOf(stored) };
  const nowMs = ports.nowMs();
  if (isFresh(stored.fact, nowMs)) return { ...copy, storedCopyUsed: false };
  try {
    return await askPlatform({ wanted, stored, readAtMs: nowMs }, ports);
  } catch (error) {
    if (error instanceof PlatformFailure) return { ...copy, storedCopyUsed: true };
    if (error instanceof Refusal) await tolerated(ports.questions.keep(question, error, nowMs));
    throw error;
  }
}

/** Asks the platform and stores its answer. Throws `PlatformFailure`, and refuses with 404 and 422. */
async function askPlatform(reading: Reading, ports: ResolutionPorts): Promise<ResolvedTemplate> {
  const { waba, name, language } = reading.wanted;
  const { found: template, sameName } = await ports.platformTemplates.lookUp(waba, { name, language });
  try {
    if (template === undefined) await markGone(reading, ports);
    else {
      await tellDifference(template, reading, ports);
      await ports.templates.refresh({ wabaId: waba.wabaId, clientIds: waba.clientIds }, template, reading.readAtMs);
    }
  } catch (error) {
    // The answer is at hand, and the next send asks the platform again: no reason to refuse this one.
    log('template.not_stored', { wabaId: waba.wabaId, error: nameOf(error) });
  }
  if (template === undefined || goneUpstream(template)) throw noTemplate(name, sameName);
  return { template, contract: parameterContract(template), ...clientOf(reading.stored), storedCopyUsed: false };
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

function clientOf(stored: TemplateForSending | undefined): Pick<ResolvedTemplate, 'client'> {
  return present({ client: stored?.client });
}

function noTemplate(name: string, sameName: readonly PlatformTemplate[]): Refusal {
  const languages = sameName.filter((template) => !goneUpstream(template)).map(({ language }) => language);
  const elsewhere = languages.length === 0 ? '' : `; ${name} exists in ${languages.sort().join(', ')}`;
  return new Refusal('template_not_found', `no template for the requested name/language${elsewhere}`);
}

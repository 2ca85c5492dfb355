import { didYouMean } from '../../http/closest-name.ts';
import { Refusal } from '../../http/refusal.ts';
import { errorName } from '../../observe/error-name.ts';
import { log } from '../../observe/log.ts';
import { PlatformFailure } from '../../platform/failure.ts';
import { refusalOf } from '../../platform/refusals.ts';
import type { LookUp, PlatformTemplates } from '../../templates/model/platform-templates.ts';
import { type ReadingPorts, storeReading } from '../../templates/model/store-reading.ts';
import { goneUpstream, isFresh } from '../../templates/model/stored-fact.ts';
import {
  type ClientTemplate,
  isDirectMessage,
  type PlatformTemplate,
  type StoredFact,
  type TemplateForSending,
  type TemplatesForSending,
} from '../../templates/model/template.ts';
import { templateKey } from '../../templates/model/template-key.ts';
import type { TemplateStore } from '../../templates/model/template-store.ts';
import { type ParameterContract, parameterContract } from '../request/parameter-contract.ts';
import { ignoringFailure, type LookupCaller, type LookupPorts, lookUpOnce, waitMs, waits } from './lookups.ts';

export interface ResolutionPorts extends LookupPorts, ReadingPorts {
  readonly templates: TemplatesForSending & Pick<TemplateStore, 'stateOf' | 'writeUpstream'>;
  readonly platformTemplates: Pick<PlatformTemplates, 'lookUp'>;
  /** Ends what the stored readings of a WABA's templates have lifted (D46). */
  readonly templateHolds: { heedReadings(wabaId: string): Promise<void> };
}

export interface TemplateRequest extends LookupCaller {
  readonly waba: { readonly wabaId: string; readonly credential: string; readonly clientIds: readonly number[] };
  readonly name: string;
  readonly language: string;
  /** What this request has read of it already (sendable-store.ts). */
  readonly read?: TemplateForSending | undefined;
}

export interface ResolvedTemplate {
  readonly template: PlatformTemplate;
  readonly contract: ParameterContract;
  /** The client's part is absent before its first synchronization. */
  readonly client?: ClientTemplate;
  /** The platform did not answer, so an old copy was used (D23, D26). */
  readonly storedCopyUsed: boolean;
}

/**
 * Uses a sendable copy of the last 5 minutes, or any while the platform is silent; else asks the platform (D23).
 * Refuses with 404 (naming existing languages), 422, and as `lookUpOnce`.
 */
export async function resolveTemplate(wanted: TemplateRequest, ports: ResolutionPorts): Promise<ResolvedTemplate> {
  const { clientId, waba, name, language } = wanted;
  const question = templateKey({ wabaId: waba.wabaId, name, language });
  let { read } = wanted;
  let stored: TemplateForSending | undefined;
  const known = async () => {
    for (let waited = 0; ; waited += 1) {
      stored = read ?? (await ports.templates.find({ clientId, wabaId: waba.wabaId, name, language }));
      read = undefined;
      const contract = stored === undefined ? undefined : contractOf(stored.fact);
      if (stored === undefined || contract === undefined) return undefined;
      const sendable = { stored, contract, wanted };
      if (isFresh(stored.fact, ports.nowMs())) return copyOf(sendable, { storedCopyUsed: false });
      const renewal = await renewed(question, sendable, ports);
      if (renewal !== 'asked') return renewal;
      if (waited === waits) return copyOf(sendable, { storedCopyUsed: true });
      await ports.pause(waitMs);
    }
  };
  const changedAtMs = () => stored?.fact.readAtMs ?? 0;
  const ask = (askedAtMs: number) => askPlatform({ wanted, stored, readAtMs: askedAtMs }, ports);
  return await lookUpOnce({ name: question, known, changedAtMs, ask }, wanted, ports);
}

/** Returns undefined for a copy that would refuse the send. */
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
  readonly wanted: TemplateRequest;
  readonly stored: TemplateForSending;
  readonly contract: ParameterContract;
}

function copyOf({ stored, contract }: Sendable, used: Pick<ResolvedTemplate, 'storedCopyUsed'>): ResolvedTemplate {
  return { template: stored.fact.template, contract, ...clientOf(stored), ...used };
}

/**
 * One request at a time renews an old copy, others get `asked`. A silent platform is asked once in 10 s and the copy is
 * used. Does not count as a client's question.
 */
async function renewed(
  question: string,
  sendable: Sendable,
  ports: ResolutionPorts,
): Promise<ResolvedTemplate | 'asked'> {
  const { wanted, stored } = sendable;
  const { askerId } = wanted;
  const nowMs = ports.nowMs();
  const renewal = `renewal ${question}`;
  const claim = await ports.questions
    .claim(renewal, { askerId, nowMs, changedAtMs: stored.fact.readAtMs })
    .catch((error: unknown) => {
      // A failed claim is no reason to refuse: there is a copy.
      log('template.renewal_not_claimed', { error: errorName(error) });
      return undefined;
    });
  if (claim?.state === 'asked') return 'asked';
  if (claim?.state !== 'ours') return copyOf(sendable, { storedCopyUsed: true });
  const release = () => ignoringFailure(ports.questions.release(renewal, askerId));
  try {
    const renewedNow = await askPlatform({ wanted, stored, readAtMs: nowMs }, ports);
    await release();
    return renewedNow;
  } catch (error) {
    if (error instanceof PlatformFailure) {
      await ignoringFailure(ports.questions.keep(renewal, refusalOf(error), nowMs));
      return copyOf(sendable, { storedCopyUsed: true });
    }
    if (error instanceof Refusal) await ignoringFailure(ports.questions.keep(question, error, nowMs));
    await release();
    throw error;
  }
}

/** Asks the platform and stores its answer. Throws `PlatformFailure`, and refuses with 404 and 422. */
async function askPlatform(asked: Asked, ports: ResolutionPorts): Promise<ResolvedTemplate> {
  const { waba, name, language } = asked.wanted;
  const { found: template, ...others } = await ports.platformTemplates.lookUp(waba, { name, language });
  const rows = async () => {
    const key = templateKey({ wabaId: waba.wabaId, name, language });
    return (await ports.templates.stateOf(key, waba.clientIds)).rows;
  };
  await storeReading(ports, { waba, before: asked.stored?.fact, rows, template, readAtMs: asked.readAtMs });
  if (template === undefined || goneUpstream(template)) throw noTemplate(name, others);
  await ignoringFailure(ports.templateHolds.heedReadings(waba.wabaId));
  return { template, contract: parameterContract(template), ...clientOf(asked.stored), storedCopyUsed: false };
}

interface Asked {
  readonly wanted: TemplateRequest;
  readonly stored: TemplateForSending | undefined;
  readonly readAtMs: number;
}

function clientOf(stored: TemplateForSending | undefined): Pick<ResolvedTemplate, 'client'> {
  return { client: stored?.client };
}

function noTemplate(name: string, { sameName, longerNames = [] }: Omit<LookUp, 'found'>): Refusal {
  const own = sameName.filter((template) => !goneUpstream(template) && !isDirectMessage(template));
  const languages = own.map(({ language }) => language);
  const elsewhere =
    languages.length === 0 ? didYouMean(name, longerNames) : `; ${name} exists in ${languages.sort().join(', ')}`;
  return new Refusal('template_not_found', `no template for the requested name/language${elsewhere}`);
}

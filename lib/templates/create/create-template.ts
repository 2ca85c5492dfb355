import * as v from 'valibot';
import type { Did } from '../../access/directory.ts';
import { type Fault, refuseFaults } from '../../http/refusal.ts';
import { errorName } from '../../observe/error-name.ts';
import { log } from '../../observe/log.ts';
import { count } from '../../observe/metrics.ts';
import { changingAtPlatform } from '../../platform/refusals.ts';
import { countryOfNumber } from '../../pricing/country.ts';
import type { EventSink } from '../../webhooks/event.ts';
import { sendBestEffort } from '../../webhooks/send-best-effort.ts';
import { type RedirectPorts, withButtonRedirects } from '../authoring/button-redirects.ts';
import { type MediaFile, type MediaPorts, withMediaHandles } from '../authoring/header-media.ts';
import type { CreatedTemplate, TemplateManagement } from '../authoring/platform-template-management.ts';
import { requestTime } from '../authoring/request-time.ts';
import { refuseUnstorable } from '../authoring/storable.ts';
import { type PlatformTemplate, PlatformTemplateSchema } from '../model/template.ts';
import { createdEvents } from '../model/template-event.ts';
import { templateKey } from '../model/template-key.ts';
import { upstreamComponents } from '../rules/upstream-components.ts';
import type { CreateRequest } from './create-request.ts';
import { type BeforeCreation, type Creation, creationReceivers } from './creation.ts';
import type { CreationStore } from './creation-store.ts';

export interface CreationPorts extends MediaPorts, RedirectPorts {
  readonly creations: CreationStore;
  readonly management: Pick<TemplateManagement, 'create'>;
  /**
   * Returns faults for pairs that the client does not have, and for channels of another WABA than the template's (D14).
   */
  readonly pairFaults: (
    template: { readonly clientId: number; readonly wabaId: string },
    pairs: CreateRequest['pairs'],
  ) => Promise<readonly Fault[]>;
  readonly events: EventSink;
  readonly nowMs: () => number;
}

export interface CreationOrder {
  readonly request: CreateRequest;
  readonly file?: MediaFile | undefined;
  readonly did: Did;
  readonly clientId: number;
  readonly userId: string;
  readonly startedAtMs: number;
}

export interface CreatedAsSent {
  readonly created: CreatedTemplate;
  readonly template: unknown;
}

/**
 * Creates a template upstream, stores it with the creator's pairs (D12, D13, D18), and tells every client of the WABA
 * (D34). Refuses with 400 for faults and as D7. Makes at most four DynamoDB requests, two per redirect (D19).
 */
export async function createTemplate(ports: CreationPorts, order: CreationOrder): Promise<CreatedAsSent> {
  const { request, file, clientId } = order;
  const { waba } = order.did;
  const key = templateKey({ ...request, wabaId: waba.wabaId });
  const [before, pairFaults] = await Promise.all([
    ports.creations.before({ templateKey: key, wabaId: waba.wabaId, name: request.name }, waba.clientIds),
    ports.pairFaults({ clientId, wabaId: waba.wabaId }, request.pairs),
  ]);
  refuseFaults([...(await nameFaults(ports, order, before)), ...pairFaults]);

  const receivers = creationReceivers({ templateKey: key, clientIds: waba.clientIds }, before);
  const wish = { urlChange: request.urlChange, components: request.draft.components };
  const wanted = withButtonRedirects(ports, wish, { clientId, wabaId: waba.wabaId, templateKey: key });
  refuseUnstorable(templateToSend(request, wanted.components));
  const time = requestTime(ports.nowMs, order.startedAtMs);
  const media = { components: wanted.components, file, credential: waba.credential, time };
  const template = templateToSend(request, await withMediaHandles(ports, media));
  await wanted.prepare();
  // Redirects become permanent only after a yes. If the answer is lost, the first reading keeps them (D19).
  const created = await changingAtPlatform(() => ports.management.create(waba, template, time.forCall));
  const { id, status, category } = created;
  count('TemplatesCreated');

  const { name, language } = request;
  const events = createdEvents({ name, language, ...created, wabaId: waba.wabaId }, receivers, ports.nowMs());
  // The template exists now, so clients are told even if storing fails.
  await Promise.all([
    storeCreation(ports, order, { template: { ...template, ...created }, before, keepRedirects: wanted.keep }),
    sendBestEffort(ports.events, events),
  ]);
  return { created: { id, status, category }, template: { ...template, ...created } };
}

function templateToSend({ name, language, draft, passedOn }: CreateRequest, written: readonly unknown[]) {
  const components = upstreamComponents({ ...draft, components: written });
  return { name, language, category: draft.category, parameter_format: 'POSITIONAL', components, ...passedOn };
}

function creationOf(order: CreationOrder, template: PlatformTemplate, readAtMs: number): Creation {
  const { request, clientId, userId } = order;
  const { waba, channel } = order.did;
  return {
    templateKey: templateKey({ ...request, wabaId: waba.wabaId }),
    wabaId: waba.wabaId,
    template,
    clientIds: waba.clientIds,
    readAtMs,
    country: request.country ?? countryOfNumber(channel.did),
    creator: { clientId, userId, pairs: request.pairs },
  };
}

/**
 * A name is taken by a template, or held after a deletion: in the deleted language, and in every language once no live
 * template of the WABA has it (D18).
 */
async function nameFaults(
  { creations, nowMs }: CreationPorts,
  { request: { name }, clientId, did: { waba } }: CreationOrder,
  { fact: before, nameHeldUntilMs = 0 }: BeforeCreation,
): Promise<Fault[]> {
  const taken = (message: string) => [{ path: 'name', message }];
  const fact = before?.fact;
  if (fact !== undefined && !fact.deleted) return taken('a template of this name and language exists already');
  const now = nowMs();
  const again = (untilMs: number) => `can be used again from ${new Date(untilMs).toISOString()}`;
  const { nameHeldUntilMs: languageHeldUntilMs = 0 } = fact ?? {};
  if (now < languageHeldUntilMs) {
    return taken(`an approved template of this name was deleted; the name ${again(languageHeldUntilMs)}`);
  }
  if (now >= nameHeldUntilMs || (await creations.nameIsLive(clientId, { wabaId: waba.wabaId, name }))) return [];
  return taken(
    `an approved template of this name was deleted and no other language has it; the name ${again(nameHeldUntilMs)}`,
  );
}

/**
 * The platform has the template: if storing fails, the next synchronization brings it. Redirects come first, so that no
 * stored template has a dead one.
 */
async function storeCreation(
  ports: CreationPorts,
  order: CreationOrder,
  made: {
    readonly template: unknown;
    readonly before: BeforeCreation;
    readonly keepRedirects: () => Promise<void>;
  },
): Promise<void> {
  try {
    await made.keepRedirects();
    const creation = creationOf(order, v.parse(PlatformTemplateSchema, made.template), ports.nowMs());
    await ports.creations.store(creation, made.before);
  } catch (error) {
    const { wabaId } = order.did.waba;
    log('template.not_stored', { wabaId, error: errorName(error) });
  }
}

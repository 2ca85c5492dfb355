import * as v from 'valibot';
import type { Did } from '../access/directory.ts';
import { type Fault, refuseFaults } from '../http/refusal.ts';
import { log } from '../observe/log.ts';
import { count } from '../observe/metrics.ts';
import { changingAtPlatform } from '../platform/refusals.ts';
import type { CreatedTemplate, TemplateManagement } from '../platform/template-management.ts';
import { announce } from '../webhooks/announce.ts';
import type { EventSink } from '../webhooks/event.ts';
import { type RedirectPorts, withButtonRedirects } from './button-redirects.ts';
import { countryOfNumber } from './country.ts';
import type { CreateRequest } from './create-request.ts';
import { type BeforeCreation, type Creation, creationReceivers } from './creation.ts';
import type { CreationStore } from './creation-store.ts';
import { type MediaFile, type MediaPorts, withMediaHandles } from './header-media.ts';
import { requestTime } from './request-time.ts';
import { upstreamComponents } from './rules/upstream-components.ts';
import { type PlatformTemplate, PlatformTemplateSchema, type StoredFact } from './template.ts';
import { createdEvents } from './template-event.ts';
import { templateKey } from './template-key.ts';

export interface CreationPorts extends MediaPorts, RedirectPorts {
  readonly creations: CreationStore;
  readonly management: Pick<TemplateManagement, 'create'>;
  /** What of the pairs the client does not have, and channels of another WABA than the template's (D14). */
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
  /** When the request began: what is done outside has one budget from then on. */
  readonly startedAtMs: number;
}

/**
 * Creates a template upstream and stores it for every client of the WABA, with the creator's pairs (D12, D13, D18). Refuses
 * with 400 a name that is taken or still held, pairs that the client does not have, media that will not do, and what the
 * platform refuses; 502 and 429 as D7 has it. Four DynamoDB requests at most, and one for redirects (D19). Every client of
 * the WABA is told (D34).
 */
export async function createTemplate(ports: CreationPorts, order: CreationOrder): Promise<CreatedTemplate> {
  const { request, file, clientId } = order;
  const { waba } = order.did;
  const key = templateKey({ ...request, wabaId: waba.wabaId });
  const [before, pairFaults] = await Promise.all([
    ports.creations.before(key, waba.clientIds),
    ports.pairFaults({ clientId, wabaId: waba.wabaId }, request.pairs),
  ]);
  refuseFaults([...nameFaults(before.fact?.fact, ports.nowMs()), ...pairFaults]);

  const receivers = creationReceivers({ templateKey: key, clientIds: waba.clientIds }, before);
  const time = requestTime(ports.nowMs, order.startedAtMs);
  const wish = { urlChange: request.urlChange, components: request.draft.components };
  const wanted = withButtonRedirects(ports, wish, { clientId, wabaId: waba.wabaId, templateKey: key });
  const media = { components: wanted.components, file, credential: waba.credential, time };
  const components = upstreamComponents({ ...request.draft, components: await withMediaHandles(ports, media) });
  const { name, language, draft } = request;
  const sent = { name, language, category: draft.category, parameter_format: 'POSITIONAL', components };
  const template = { ...sent, ...request.passedOn };
  await wanted.store();
  const created = await changingAtPlatform(() => ports.management.create(waba, template, time.forCall));
  const { id, status, category } = created;
  count('TemplatesCreated');

  const events = createdEvents({ name, language, ...created, wabaId: waba.wabaId }, receivers, ports.nowMs());
  // The template exists from now on: the clients are told whether or not it can be stored.
  await Promise.all([
    storeCreation(ports, order, { template: { ...template, ...created }, before }),
    announce(ports.events, events),
  ]);
  return { id, status, category };
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

/** A name is free in a language when no template has it and the platform does not hold it after a deletion. */
function nameFaults(fact: StoredFact | undefined, nowMs: number): Fault[] {
  const taken = (message: string) => [{ path: 'name', message }];
  if (fact === undefined) return [];
  if (!fact.deleted) return taken('a template of this name and language exists already');
  const { nameHeldUntilMs = 0 } = fact;
  if (nowMs >= nameHeldUntilMs) return [];
  const date = new Date(nameHeldUntilMs).toISOString();
  return taken(`an approved template of this name was deleted; the name can be used again from ${date}`);
}

/** The platform has the template: if it cannot be stored here, the next synchronization brings it. */
async function storeCreation(
  ports: CreationPorts,
  order: CreationOrder,
  { template, before }: { readonly template: unknown; readonly before: BeforeCreation },
): Promise<void> {
  try {
    const creation = creationOf(order, v.parse(PlatformTemplateSchema, template), ports.nowMs());
    await ports.creations.store(creation, before);
  } catch (error) {
    const { wabaId } = order.did.waba;
    log('template.not_stored', { wabaId, error: error instanceof Error ? error.name : typeof error });
  }
}

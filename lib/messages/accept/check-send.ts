import type { ScopedCaller } from '../../access/campaign-scope.ts';
import type { Did, Directory } from '../../access/directory.ts';
import type { CatalogIdOf } from '../../catalog/platform-catalogs.ts';
import { FaultList } from '../../http/fault-list.ts';
import { invalid, Refusal } from '../../http/refusal.ts';
import { correlationId } from '../../observe/correlation.ts';
import { count } from '../../observe/metrics.ts';
import { heedsOptOuts } from '../../opt-outs/categories.ts';
import { atPlatform } from '../../platform/refusals.ts';
import { isUserId } from '../../platform/user-id.ts';
import type { ClientTemplate, PlatformTemplate, TemplateForSending } from '../../templates/model/template.ts';
import { type AssignableDirectory, switchedOff } from '../../templates/status/switched-off.ts';
import type { DispatchHead, Recipient, Repeat } from '../dispatch/head.ts';
import { keptAfterLastCallMs } from '../dispatch/items.ts';
import type { WholeDispatch } from '../dispatch/whole-dispatch.ts';
import type { FindReplacements } from '../inbound/replaced-ids.ts';
import { compositionPlan } from '../request/compose.ts';
import { withoutDuplicates } from '../request/duplicates.ts';
import type { ParameterContract } from '../request/parameter-contract.ts';
import { checkHeaderInput, checkNotSender, checkRecipients } from '../request/recipient-rules.ts';
import type { SendRequest } from '../request/send-request.ts';
import { notSendable } from '../request/sendable-kinds.ts';
import { lookUpOnce } from '../resolve/lookups.ts';
import type { IsOnboarded } from '../resolve/platform-onboarding.ts';
import { type ResolutionPorts, resolveTemplate } from '../resolve/resolve-template.ts';
import type { SendTime } from '../when/send-time.ts';
import { needsClientZone, type Timetable, timetableOf } from '../when/timetable.ts';
import { withCurrentIds } from './replaced-ids.ts';
import { warningOf } from './send-warnings.ts';

export interface CheckPorts extends ResolutionPorts {
  readonly catalogIdOf: CatalogIdOf;
  readonly isOnboarded: IsOnboarded;
  readonly directory: AssignableDirectory & Pick<Directory, 'zoneOfClient'>;
  readonly replacementsOf: FindReplacements;
}

/** Its client may use the DID. */
export interface Send {
  readonly request: SendRequest;
  readonly caller: ScopedCaller;
  readonly clientId: number;
  readonly did: Did;
  readonly dispatchId: string;
  /** The stored template, where it was read with the DID. */
  readonly read?: TemplateForSending | undefined;
  /** Only a scheduled send has it (D56). */
  readonly time?: SendTime;
  /** A retry sends again to recipients of this dispatch (D57). */
  readonly retryOf?: string;
}

export interface CheckedSend {
  readonly dispatch: WholeDispatch;
  readonly warning?: string;
  readonly timetable?: Timetable;
}

/**
 * Does as `checked`, and counts a 502 that the platform alone caused, which the objective of acceptance excludes
 * (infra/constructs/objectives.ts).
 */
export async function checkSend(send: Send, ports: CheckPorts): Promise<CheckedSend> {
  try {
    return await checked(send, ports);
  } catch (error) {
    if (error instanceof Refusal && error.isOfPlatform) count('SendsFailedByPlatform');
    throw error;
  }
}

/**
 * Resolves the template (404, 422, 502), checks all recipients (400, D24), follows replaced user ids, drops repeats
 * (D25), computes call times (D56). Stores only the template (D23).
 */
async function checked(send: Send, ports: CheckPorts): Promise<CheckedSend> {
  const { request, clientId, did, dispatchId, read } = send;
  const wanted = { clientId, askerId: dispatchId, waba: did.waba, ...request.template, read };
  const resolved = await resolveTemplate(wanted, ports);
  if (resolved.client !== undefined) await refuseByClient(resolved.client, send, ports);
  const { template, contract } = resolved;
  checkInputs(contract, request, did.channel.did);

  const { recipients, redirected } = await withCurrentIds(request.recipients, did.waba.wabaId, ports.replacementsOf);
  const { kept, repeats } = withoutDuplicates(recipients);
  const catalogId = contract.header.kind === 'product' ? await linkedCatalogId(send, ports) : undefined;
  const plan = compositionPlan(template, contract, {
    header: request.header,
    catalogId,
    messagingAccountId: did.channel.messagingAccountId,
  });
  const path = await pathOf(template, did, ports);
  const byUserId = kept.some(({ to }) => isUserId(to)) ? (true as const) : undefined;
  const acceptedAtMs = ports.nowMs();
  const timetable = await timetableOfSend({ recipients: kept, repeats, category: template.category }, send, ports);
  const head = dispatchHead(send, template, {
    ...{ path, acceptedAtMs, total: kept.length },
    byUserId,
    timetable,
  });
  const dispatch = {
    ...{ head, plan, recipients: kept, ...(repeats.length === 0 ? {} : { repeats }) },
    ...(timetable === undefined ? {} : inLots(timetable, kept, repeats)),
    header: request.header,
  };

  const warning = warningOf({
    resolved,
    askedLanguage: request.template.language,
    campaignId: request.campaignId,
    redirected,
    droppedIndexes: repeats.map(([position]) => position),
    recipients: kept,
    request,
    foreignDid: did.channel.clientId === clientId ? undefined : did.channel.did,
    timetable,
  });
  return { dispatch, warning, timetable };
}

/** Returns the call times of a scheduled send, else undefined. Refuses hours for one-time codes (400). */
async function timetableOfSend(
  {
    recipients,
    repeats,
    category,
  }: Pick<WholeDispatch, 'recipients'> & { repeats: readonly Repeat[]; category: string },
  { time, clientId, request }: Send,
  ports: CheckPorts,
): Promise<Timetable | undefined> {
  if (time === undefined) return undefined;
  const { window, days } = time.asked;
  if (category.toUpperCase() === 'AUTHENTICATION' && (window ?? days) !== undefined) {
    const name = window === undefined ? 'Send-Days' : 'Send-Window';
    throw invalid(
      name,
      `${name}: expected none, for a template of category AUTHENTICATION, received ${window ?? days}`,
    );
  }
  const clientZone = needsClientZone(recipients, time) ? await ports.directory.zoneOfClient(clientId) : undefined;
  const places = placesKept(recipients.length, repeats);
  const { ttlSeconds } = request;
  return timetableOf({ recipients, places, ttlSeconds, clientZone, nowMs: ports.nowMs() }, time);
}

function placesKept(count: number, repeats: readonly Repeat[]): number[] {
  const dropped = new Set(repeats.map(([position]) => position));
  return Array.from({ length: count + repeats.length }, (_, position) => position).filter((at) => !dropped.has(at));
}

/** Sorts the recipients by lots. `positions` is there only if that changes the order. */
function inLots({ lots, order }: Timetable, recipients: readonly Recipient[], repeats: readonly Repeat[]) {
  if (order.every((before, index) => before === index)) return { lots };
  const places = placesKept(recipients.length, repeats);
  const ordered = order.flatMap((before) => recipients[before] ?? []);
  return { lots, recipients: ordered, positions: order.map((before) => places[before] ?? before) };
}

/** Refuses with 422 what the client has switched off. A template without a client's document is on (D13). */
async function refuseByClient(client: ClientTemplate, { caller }: Send, { directory }: CheckPorts): Promise<void> {
  const off = await switchedOff(directory, caller, client);
  if (off !== undefined) throw notSendable(off);
}

function checkInputs(contract: ParameterContract, request: SendRequest, did: string): void {
  const faults = new FaultList();
  checkHeaderInput(contract.header, request.header, faults);
  const code = faults.count > 0 ? 'invalid_request' : 'invalid_recipients';
  checkNotSender(did, request.recipients, faults);
  checkRecipients(contract, request.recipients, faults);
  if (faults.count > 0) throw new Refusal(code, faults.message, { errors: faults.listed() });
}

async function linkedCatalogId({ did, clientId, dispatchId }: Send, ports: CheckPorts): Promise<string> {
  const known = () => atPlatform(() => ports.catalogIdOf(did.waba));
  const ask = async () => {
    const catalogId = await ports.catalogIdOf(did.waba, { fresh: true });
    if (catalogId === undefined) throw notSendable('the template shows a product and no catalog is linked to its WABA');
    return catalogId;
  };
  return await lookUpOnce(
    { name: `catalog of ${did.waba.wabaId}`, known, ask },
    { clientId, askerId: dispatchId },
    ports,
  );
}

/**
 * Chooses the endpoint (D30): only the marketing endpoint takes a bid or heeds a template's time to live (platform
 * reference, 2.9).
 */
async function pathOf(template: PlatformTemplate, { waba }: Did, ports: CheckPorts): Promise<DispatchHead['path']> {
  if (template.optimization_spec !== undefined) return 'marketing_messages';
  const marketing = template.category.toUpperCase() === 'MARKETING';
  if (!marketing || template.message_send_ttl_seconds === undefined) return 'messages';
  return (await ports.isOnboarded(waba)) ? 'marketing_messages' : 'messages';
}

function dispatchHead(
  { request, clientId, did, dispatchId, time, retryOf }: Send,
  template: PlatformTemplate,
  facts: Pick<DispatchHead, 'path' | 'acceptedAtMs' | 'total' | 'byUserId'> & { readonly timetable?: Timetable },
): DispatchHead {
  const { campaignId, attends, ttlSeconds } = request;
  const { path, acceptedAtMs, total, byUserId, timetable } = facts;
  const fromMs = timetable?.fromMs ?? acceptedAtMs;
  const category = template.category.toUpperCase();
  return {
    dispatchId,
    clientId,
    did: did.channel.did,
    wabaId: did.waba.wabaId,
    phoneNumberId: did.channel.phoneNumberId,
    credential: did.waba.credential,
    throughputPerSecond: did.channel.throughputPerSecond,
    ...(did.waba.appId === undefined ? {} : { receiptsExpected: true as const }),
    ...(category === 'AUTHENTICATION' ? { urgent: true as const } : {}),
    ...(heedsOptOuts({ category, clientId, ...did.waba }) ? { heedsOptOuts: true as const } : {}),
    byUserId,
    path,
    category,
    templateName: template.name,
    templateLanguage: template.language,
    acceptedAtMs,
    expiresAtMs: ttlSeconds === undefined ? undefined : fromMs + ttlSeconds * 1_000,
    when: time && { asked: time.asked, fromMs },
    keptUntilMs: timetable && timetable.lastCallMs + keptAfterLastCallMs,
    retryOf,
    campaignId,
    attends,
    total,
    correlationId: correlationId(),
  };
}

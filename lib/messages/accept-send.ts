import type { Did } from '../access/directory.ts';
import { FaultList } from '../http/fault-list.ts';
import { Refusal } from '../http/refusal.ts';
import { correlationId } from '../observe/correlation.ts';
import { log } from '../observe/log.ts';
import { count } from '../observe/metrics.ts';
import type { CatalogIdOf } from '../platform/catalogs.ts';
import { atPlatform } from '../platform/refusals.ts';
import { compositionPlan } from './compose.ts';
import { withoutDuplicates } from './duplicates.ts';
import { type EnqueuePorts, enqueueJob } from './enqueue-job.ts';
import type { Accepted } from './idempotency.ts';
import type { JobHead } from './job.ts';
import { type ParameterContract, parameterContract } from './parameter-contract.ts';
import { checkHeaderInput, checkRecipients } from './recipient-rules.ts';
import { type ResolutionPorts, type ResolvedTemplate, resolveTemplate } from './resolve-template.ts';
import type { SendRequest } from './send-request.ts';
import { warningOf } from './send-warnings.ts';
import { notSendable } from './sendable-kinds.ts';

export interface AcceptPorts extends ResolutionPorts, Omit<EnqueuePorts, 'remainingMs'> {
  readonly catalogIdOf: CatalogIdOf;
}

/** A send request of a client that may use the DID. */
export interface Send {
  readonly request: SendRequest;
  readonly clientId: number;
  readonly did: Did;
  readonly jobId: string;
  readonly remainingMs: () => number;
}

/**
 * Accepts a send: resolves the template (404, 422, 502), checks every recipient against it (400, D24), drops repeated
 * recipients, and queues the whole as one job (D25).
 */
export async function acceptSend(send: Send, ports: AcceptPorts): Promise<Accepted> {
  const { request, clientId, did, jobId } = send;
  const resolved = await resolveTemplate({ clientId, waba: did.waba, ...request.template }, ports);
  if (resolved.client?.isDirectMessage) {
    throw notSendable('direct-message templates cannot be sent through this interface');
  }
  const contract = parameterContract(resolved.template);
  checkInputs(contract, request);

  const { kept, droppedIndexes } = withoutDuplicates(request.recipients);
  const catalogId = contract.header.kind === 'product' ? await linkedCatalogId(did, ports) : undefined;
  const plan = compositionPlan(resolved.template, contract, {
    ...(request.header === undefined ? {} : { header: request.header }),
    ...(catalogId === undefined ? {} : { catalogId }),
  });
  const head = jobHead(send, resolved, { acceptedAtMs: ports.nowMs(), total: kept.length });
  await enqueueJob({ head, plan, recipients: kept }, { ...ports, remainingMs: send.remainingMs });
  count('RecipientsAccepted', kept.length);
  log('job.accepted', { jobId, clientId, count: kept.length });

  const warning = warningOf({
    resolved,
    askedLanguage: request.template.language,
    campaignId: request.campaignId,
    droppedIndexes,
  });
  return warning === undefined ? { jobId } : { jobId, warning };
}

function checkInputs(contract: ParameterContract, request: SendRequest): void {
  const faults = new FaultList();
  checkHeaderInput(contract.header, request.header, faults);
  const code = faults.count > 0 ? 'invalid_request' : 'invalid_recipients';
  checkRecipients(contract, request.recipients, faults);
  if (faults.count > 0) throw new Refusal(code, faults.message, { errors: faults.listed() });
}

async function linkedCatalogId(did: Did, ports: AcceptPorts): Promise<string> {
  const catalogId = await atPlatform(() => ports.catalogIdOf(did.waba));
  if (catalogId === undefined) throw notSendable('the template shows a product and no catalog is linked to its WABA');
  return catalogId;
}

function jobHead(
  { request, clientId, did, jobId }: Send,
  { template }: ResolvedTemplate,
  { acceptedAtMs, total }: { readonly acceptedAtMs: number; readonly total: number },
): JobHead {
  const { campaignId, attends, ttlSeconds } = request;
  return {
    jobId,
    clientId,
    did: did.channel.did,
    wabaId: did.waba.wabaId,
    phoneNumberId: did.channel.phoneNumberId,
    credential: did.waba.credential,
    throughputPerSecond: did.channel.throughputPerSecond,
    // D30: the other path refuses templates with a bid.
    path: template.optimization_spec === undefined ? 'messages' : 'marketing_messages',
    templateName: template.name,
    templateLanguage: template.language,
    acceptedAtMs,
    ...(ttlSeconds === undefined ? {} : { expiresAtMs: acceptedAtMs + ttlSeconds * 1_000 }),
    ...(campaignId === undefined ? {} : { campaignId }),
    ...(attends === undefined ? {} : { attends }),
    total,
    correlationId: correlationId(),
  };
}

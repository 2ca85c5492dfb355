import type { Did } from '../../access/directory.ts';
import type { CatalogIdOf } from '../../catalog/platform-catalogs.ts';
import { FaultList } from '../../http/fault-list.ts';
import { Refusal } from '../../http/refusal.ts';
import { present } from '../../keys/present.ts';
import { correlationId } from '../../observe/correlation.ts';
import { log } from '../../observe/log.ts';
import { count } from '../../observe/metrics.ts';
import { atPlatform } from '../../platform/refusals.ts';
import type { PlatformTemplate } from '../../templates/model/template.ts';
import type { JobHead, SendPath } from '../job.ts';
import { compositionPlan } from '../request/compose.ts';
import { withoutDuplicates } from '../request/duplicates.ts';
import type { ParameterContract } from '../request/parameter-contract.ts';
import { checkHeaderInput, checkRecipients } from '../request/recipient-rules.ts';
import type { SendRequest } from '../request/send-request.ts';
import { notSendable, refuseDirectMessages } from '../request/sendable-kinds.ts';
import type { IsOnboarded } from '../resolve/platform-onboarding.ts';
import { askOnce } from '../resolve/questions.ts';
import { type ResolutionPorts, resolveTemplate } from '../resolve/resolve-template.ts';
import { beginStraight, type DescribePorts, describeAccepted } from './describe-accepted.ts';
import { type EnqueuePorts, enqueueJob, enqueueStraight } from './enqueue-job.ts';
import type { Accepted } from './idempotency.ts';
import type { AcceptedSend } from './send-job.ts';
import { warningOf } from './send-warnings.ts';
import { straightSend } from './straight-send.ts';

export interface AcceptPorts extends ResolutionPorts, Omit<EnqueuePorts & DescribePorts, 'remainingMs'> {
  readonly catalogIdOf: CatalogIdOf;
  readonly isOnboarded: IsOnboarded;
  /** Messages a second that the number of a job may send, by the platform's last word. */
  readonly limitOf: (head: JobHead) => Promise<number>;
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
 * recipients, queues the whole (D25), and writes down what its report opens with (D40).
 */
export async function acceptSend(send: Send, ports: AcceptPorts): Promise<Accepted> {
  const { request, clientId, did, jobId } = send;
  const wanted = { clientId, askerId: jobId, waba: did.waba, ...request.template };
  const resolved = await resolveTemplate(wanted, ports);
  if (resolved.client !== undefined) refuseDirectMessages(resolved.client);
  const { template, contract } = resolved;
  checkInputs(contract, request);

  const { kept, repeats } = withoutDuplicates(request.recipients);
  const catalogId = contract.header.kind === 'product' ? await linkedCatalogId(send, ports) : undefined;
  const plan = compositionPlan(template, contract, {
    ...present({ header: request.header, catalogId }),
  });
  const path = await pathOf(template, did, ports);
  const head = jobHead(send, template, { path, acceptedAtMs: ports.nowMs(), total: kept.length });
  const job = { head, plan, recipients: kept, ...(repeats.length === 0 ? {} : { repeats }) };
  await queueAndDescribe(job, { ...ports, remainingMs: send.remainingMs });

  const warning = warningOf({
    resolved,
    askedLanguage: request.template.language,
    campaignId: request.campaignId,
    droppedIndexes: repeats.map(([position]) => position),
    foreignDid: did.channel.clientId === clientId ? undefined : did.channel.did,
  });
  return { jobId, ...present({ warning }) };
}

/** One recipient goes straight to the workers, several by the fan-out. */
async function queueAndDescribe(
  job: AcceptedSend,
  ports: AcceptPorts & Pick<EnqueuePorts, 'remainingMs'>,
): Promise<void> {
  const { jobId, clientId, total } = job.head;
  const straight = await straightSend(job, ports.limitOf);
  if (straight === undefined) await enqueueJob(job, ports);
  else await enqueueStraight(straight, ports);
  count('RecipientsAccepted', total);
  log('job.accepted', { jobId, clientId, count: total });
  if (straight === undefined) await describeAccepted(job, ports);
  else await beginStraight(straight.message, ports);
}

function checkInputs(contract: ParameterContract, request: SendRequest): void {
  const faults = new FaultList();
  checkHeaderInput(contract.header, request.header, faults);
  const code = faults.count > 0 ? 'invalid_request' : 'invalid_recipients';
  checkRecipients(contract, request.recipients, faults);
  if (faults.count > 0) throw new Refusal(code, faults.message, { errors: faults.listed() });
}

async function linkedCatalogId({ did, clientId, jobId }: Send, ports: AcceptPorts): Promise<string> {
  const known = () => atPlatform(() => ports.catalogIdOf(did.waba));
  const ask = async () => {
    const catalogId = await ports.catalogIdOf(did.waba, { fresh: true });
    if (catalogId === undefined) throw notSendable('the template shows a product and no catalog is linked to its WABA');
    return catalogId;
  };
  return await askOnce({ name: `catalog of ${did.waba.wabaId}`, known, ask }, { clientId, askerId: jobId }, ports);
}

/** D30. A bid is refused elsewhere, and a time to live of the template's own has no effect elsewhere (platform reference, 2.9). */
async function pathOf(template: PlatformTemplate, { waba }: Did, ports: AcceptPorts): Promise<SendPath> {
  if (template.optimization_spec !== undefined) return 'marketing_messages';
  const marketing = template.category.toUpperCase() === 'MARKETING';
  if (!marketing || template.message_send_ttl_seconds === undefined) return 'messages';
  return (await ports.isOnboarded(waba)) ? 'marketing_messages' : 'messages';
}

function jobHead(
  { request, clientId, did, jobId }: Send,
  template: PlatformTemplate,
  facts: Pick<JobHead, 'path' | 'acceptedAtMs' | 'total'>,
): JobHead {
  const { campaignId, attends, ttlSeconds } = request;
  const { path, acceptedAtMs, total } = facts;
  return {
    jobId,
    clientId,
    did: did.channel.did,
    wabaId: did.waba.wabaId,
    phoneNumberId: did.channel.phoneNumberId,
    credential: did.waba.credential,
    throughputPerSecond: did.channel.throughputPerSecond,
    ...(did.waba.appId === undefined ? {} : { receiptsExpected: true as const }),
    ...(template.category.toUpperCase() === 'AUTHENTICATION' ? { urgent: true as const } : {}),
    path,
    templateName: template.name,
    templateLanguage: template.language,
    acceptedAtMs,
    ...present({
      expiresAtMs: ttlSeconds === undefined ? undefined : acceptedAtMs + ttlSeconds * 1_000,
      campaignId,
      attends,
    }),
    total,
    correlationId: correlationId(),
  };
}

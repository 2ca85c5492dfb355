import { type Directory, isUsableDid, type Waba } from '../../access/directory.ts';
import { FaultList } from '../../http/fault-list.ts';
import { Refusal } from '../../http/refusal.ts';
import { heedsOptOuts } from '../../opt-outs/categories.ts';
import { goneUpstream } from '../../templates/model/stored-fact.ts';
import type { PlatformTemplate, TemplatesForSending } from '../../templates/model/template.ts';
import type { CompositionPlan } from '../dispatch/composition-plan.ts';
import type { DispatchHead, StoredRecipient } from '../dispatch/head.ts';
import type { DispatchStop } from '../dispatch/item.ts';
import type { StoredDispatch } from '../dispatch/whole-dispatch.ts';
import { isOutdated } from '../holds/hold.ts';
import type { HoldsOfWabas } from '../holds/hold-store.ts';
import { compositionPlan } from '../request/compose.ts';
import { type ParameterContract, parameterContract } from '../request/parameter-contract.ts';
import { checkHeaderInput, checkRecipients } from '../request/recipient-rules.ts';

export interface RevalidationPorts {
  readonly directory: Pick<Directory, 'findDid'>;
  readonly templates: Pick<TemplatesForSending, 'find'>;
}

/** A dispatch is sent by `head` and `plan`, or all of it ends as `stop` says. */
export type Revalidation =
  | {
      readonly kind: 'sendable';
      readonly head: DispatchHead;
      readonly plan: CompositionPlan;
      /** Tells whether a recipient's parameters fit today's template. */
      readonly fits: (recipient: StoredRecipient) => boolean;
      /** The template was read then, or as late; by default at acceptance. */
      readonly judgedMs?: number;
    }
  | { readonly kind: 'refused'; readonly stop: Pick<DispatchStop, 'state' | 'code' | 'reason'> };

/** Returns the dispatch as acceptance found it. */
export function asAccepted({ head, plan }: Pick<StoredDispatch, 'head' | 'plan'>): Revalidation {
  return { kind: 'sendable', head, plan, fits: () => true };
}

export interface ReleaseJudgingPorts extends RevalidationPorts {
  readonly holds: Pick<HoldsOfWabas, 'find'>;
  readonly nowMs: () => number;
}

/**
 * Judges a dispatch before a release: a scheduled send always (D56), another one if a review of its template has ended
 * since (D46). Throws when a table cannot be read.
 */
export async function judgedForRelease(dispatch: StoredDispatch, ports: ReleaseJudgingPorts): Promise<Revalidation> {
  const { head } = dispatch;
  const judgedMs = ports.nowMs();
  const isUnchanged = async () => !isOutdated(await ports.holds.find(head.wabaId), head, head.acceptedAtMs);
  if (head.when === undefined && (await isUnchanged())) return asAccepted(dispatch);
  const judged = await revalidateDispatch(dispatch, ports);
  return judged.kind === 'sendable' ? { ...judged, judgedMs } : judged;
}

/**
 * Before a release of a scheduled send, and after a review (D46, D56): the client still has the channel and the active
 * template, of a sendable kind, which takes the header. Throws when a table cannot be read.
 */
export async function revalidateDispatch(
  dispatch: Pick<StoredDispatch, 'head' | 'plan' | 'header'>,
  { directory, templates }: RevalidationPorts,
): Promise<Revalidation> {
  const { head } = dispatch;
  const { clientId, wabaId, templateName: name, templateLanguage: language } = head;
  const [did, stored] = await Promise.all([
    directory.findDid(head.did),
    templates.find({ clientId, wabaId, name, language }),
  ]);
  const isSame = did?.channel.phoneNumberId === head.phoneNumberId && did.waba.wabaId === wabaId;
  if (!isUsableDid(did, clientId) || !isSame) return refused('channel_removed');
  const { credential } = did.waba;
  // A missing copy proves nothing. The stored status is ignored: the platform refuses a paused template, which opens a
  // hold (D46).
  if (stored === undefined) return asAccepted({ ...dispatch, head: { ...head, credential } });
  const { template, deleted } = stored.fact;
  if (deleted || goneUpstream(template)) return refused('template_deleted');
  if (stored.client?.active === false) return refused('template_switched_off');
  const contract = contractOf(template);
  if (contract instanceof Refusal) return refused('template_changed', contract.message);
  const { catalogId } = dispatch.plan;
  const faults = new FaultList();
  checkHeaderInput(contract.header, dispatch.header, faults);
  if (faults.count > 0) return refused('template_changed', faults.message);
  if (contract.header.kind === 'product' && catalogId === undefined) return refused('template_changed');
  const { messagingAccountId } = did.channel;
  const inputs = { header: dispatch.header, catalogId, messagingAccountId };
  return {
    kind: 'sendable',
    head: headOf(head, template, did.waba),
    plan: compositionPlan(template, contract, inputs),
    fits: (recipient) => hasWhatIsNeeded(contract, recipient),
  };
}

function refused(code: string, reason?: string): Revalidation {
  return { kind: 'refused', stop: { state: 'failed', code, reason } };
}

/** Returns the parameters that the template would need if it were approved. */
function contractOf(template: PlatformTemplate): ParameterContract | Refusal {
  try {
    return parameterContract({ ...template, status: 'APPROVED' });
  } catch (error) {
    if (error instanceof Refusal) return error;
    throw error;
  }
}

/** An erased person ends as `erased`, whatever the template needs (D60). */
function hasWhatIsNeeded(contract: ParameterContract, { to, ...stored }: StoredRecipient): boolean {
  if (to === undefined) return true;
  const faults = new FaultList();
  checkRecipients(contract, [{ ...stored, to }], faults);
  return faults.count === 0;
}

function headOf(
  head: DispatchHead,
  template: PlatformTemplate,
  { utilityStops, credential }: Pick<Waba, 'utilityStops' | 'credential'>,
): DispatchHead {
  const category = template.category.toUpperCase();
  const { heedsOptOuts: _before, ...rest } = head;
  const heeds = heedsOptOuts({ category, clientId: head.clientId, utilityStops });
  return {
    ...rest,
    credential,
    category,
    path: pathOf(head, template, category),
    ...(heeds ? { heedsOptOuts: true as const } : {}),
  };
}

/** Chooses the endpoint (D30), without asking again whether the platform offers the marketing endpoint to the WABA. */
function pathOf(head: DispatchHead, template: PlatformTemplate, category: string): DispatchHead['path'] {
  if (template.optimization_spec !== undefined) return 'marketing_messages';
  const hasOwnTime = category === 'MARKETING' && template.message_send_ttl_seconds !== undefined;
  return hasOwnTime && head.category === category ? head.path : 'messages';
}

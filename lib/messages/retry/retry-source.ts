import type { Did } from '../../access/directory.ts';
import { forEachConcurrently } from '../../aws/concurrently.ts';
import { Refusal } from '../../http/refusal.ts';
import { heedsOptOuts } from '../../opt-outs/categories.ts';
import type { AcceptedDispatches } from '../accept/accepted-dispatches-store.ts';
import { ParametersGone, parametersExpireAtSeconds } from '../accept/parameter-pages.ts';
import type { DispatchParameters } from '../accept/parameter-store.ts';
import { type SendCostPorts, withoutOptedOut } from '../budget/send-cost.ts';
import type { DispatchHead, Recipient, StoredRecipient } from '../dispatch/head.ts';
import { forgottenAtMs, nextParameters } from '../dispatch/items.ts';
import type { StoredDispatch } from '../dispatch/whole-dispatch.ts';
import { describedDispatch, outcomesNow } from '../report/read-report.ts';
import type { Report } from '../report/report-store.ts';
import type { SendRequest } from '../request/send-request.ts';
import { type SendTime, sendTimeOf } from '../when/send-time.ts';
import { type Retryable, type RetryablePlace, retryableIn } from './retryable.ts';

/** A client retries its dispatch on the DID that sent it. */
export interface RetryQuery {
  readonly clientId: number;
  readonly did: Did;
  readonly sourceId: string;
  readonly codes: ReadonlySet<string> | undefined;
}

export interface SourcePorts {
  /** Its reads are strongly consistent, receipts included. */
  readonly report: Report;
  readonly acceptance: Pick<AcceptedDispatches, 'find'>;
  readonly parameters: Pick<DispatchParameters, 'read'>;
  readonly optOuts: SendCostPorts['optOuts'];
  readonly nowMs: () => number;
}

export interface RetrySource {
  readonly dispatchId: string;
  readonly forgottenAtMs: number;
  readonly retriedBy?: ReadonlySet<string>;
  /** The recipients are in the order of the request, at least one. */
  readonly recipients: readonly RetryRecipient[];
  /** The retry has the original hours and days by default (D56). */
  readonly time?: SendTime;
  /** The request is the original send without recipients; its time to live starts again. */
  readonly request: Omit<SendRequest, 'recipients'>;
}

export interface RetryRecipient extends RetryablePlace {
  readonly recipient: Recipient;
}

const pagesAtOnce = 10;

/**
 * Reads what may be retried (D57). Refuses with 404 `dispatch_not_found`; 409 `not_retryable` for one-time codes and
 * missing parameters; 409 `nothing_to_retry` when no cause may pass, or all such people have opted out (D55).
 */
export async function retrySource(question: RetryQuery, ports: SourcePorts): Promise<RetrySource> {
  const dispatch = await describedDispatch(ports.report, question.sourceId);
  if (dispatch?.head.clientId !== question.clientId || dispatch.head.did !== question.did.channel.did) {
    throw new Refusal('dispatch_not_found', 'dispatch not found');
  }
  const { head } = dispatch;
  const nowMs = ports.nowMs();
  const accepted = await ports.acceptance.find(head.dispatchId);
  const { plan } = retryable(head, accepted, nowMs);
  const read = await outcomesNow(ports.report, dispatch);
  const found = retryableIn(
    dispatch,
    (index) => ({ outcome: read.outcomeAt(index), byReceipt: read.written.proofs.get(index)?.proof === 'failed' }),
    { codes: question.codes, nowMs },
  );
  const recipients = await recipientsOf({ head, found, question }, ports);
  const { templateName, templateLanguage, campaignId, attends } = head;
  return {
    dispatchId: head.dispatchId,
    forgottenAtMs: forgottenAtMs(head),
    retriedBy: dispatch.retriedBy,
    recipients,
    time: hoursOf(head),
    request: {
      did: head.did,
      template: { name: templateName, language: templateLanguage },
      campaignId,
      attends,
      ttlSeconds: ttlSecondsOf(head),
      header: plan.header,
    },
  };
}

function retryable(head: DispatchHead, accepted: StoredDispatch | undefined, nowMs: number): StoredDispatch {
  if (head.category === 'AUTHENTICATION') {
    throw new Refusal('not_retryable', 'one-time codes are not retried: a code is too old by then');
  }
  if (accepted === undefined) {
    throw new Refusal('not_retryable', 'the parameters of a send of up to ten recipients are not stored');
  }
  if (parametersExpireAtSeconds(head) * 1_000 <= nowMs) throw parametersGone();
  return accepted;
}

function parametersGone(): Refusal {
  return new Refusal('not_retryable', 'the parameters of the dispatch are not kept any more');
}

interface ToRead {
  readonly head: DispatchHead;
  readonly found: Retryable;
  readonly question: RetryQuery;
}

async function recipientsOf(
  { head, found: { places, later }, question }: ToRead,
  ports: SourcePorts,
): Promise<readonly RetryRecipient[]> {
  const stored = await storedOf(
    head.dispatchId,
    places.map(({ index }) => index),
    ports,
  );
  const recipients = places.flatMap((place) => {
    const { to, ...rest } = stored.get(place.index) ?? {};
    // The operator has erased the person (D60).
    return to === undefined ? [] : [{ ...place, recipient: { ...rest, to } }];
  });
  const willing = await withoutStops(recipients, { head, question }, ports);
  if (willing.length > 0) return willing;
  const waits = later === 0 ? '' : ` yet; ${later} of its recipients may be retried later`;
  const stops = recipients.length === 0 ? '' : `; ${recipients.length} of its recipients have opted out since`;
  throw new Refusal('nothing_to_retry', `nothing of the dispatch can be retried${waits}${stops}`);
}

/** Leaves out those who have opted out by now: a retry would only report them again (D57). */
async function withoutStops(
  recipients: readonly RetryRecipient[],
  { head: { category }, question: { clientId, did } }: Omit<ToRead, 'found'>,
  { optOuts }: SourcePorts,
): Promise<readonly RetryRecipient[]> {
  const { waba, channel } = did;
  const heeds = heedsOptOuts({ category, clientId, ...waba });
  const { wabaId } = waba;
  const { phoneNumberId } = channel;
  const sender = { clientId, wabaId, phoneNumberId, heedsOptOuts: heeds || undefined };
  const sent = recipients.map(({ recipient }) => recipient);
  const willing = new Set(await withoutOptedOut(sender, sent, optOuts));
  return recipients.filter(({ recipient }) => willing.has(recipient));
}

/** Reads the pages with these recipients; those of one partition sequentially. */
async function storedOf(
  dispatchId: string,
  indexes: readonly number[],
  { parameters }: Pick<SourcePorts, 'parameters'>,
): Promise<ReadonlyMap<number, StoredRecipient>> {
  const stored = new Map<number, StoredRecipient>();
  const byPartition = Map.groupBy(indexes, nextParameters);
  const readPartition = async (some: readonly number[]) => {
    for (const index of some.toSorted((one, other) => one - other)) {
      if (stored.has(index)) continue;
      const page = await parameters.read(dispatchId, index);
      for (const [at, recipient] of page.entries()) stored.set(index + at, recipient);
    }
  };
  try {
    await forEachConcurrently(byPartition.values(), pagesAtOnce, readPartition);
  } catch (error) {
    throw error instanceof ParametersGone ? parametersGone() : error;
  }
  return stored;
}

/** `Send-At` has passed, but hours come again. */
function hoursOf({ when }: DispatchHead): SendTime | undefined {
  const { window, days, zone } = when?.asked ?? {};
  return sendTimeOf({ 'Send-Window': window, 'Send-Days': days, 'Send-Zone': zone });
}

function ttlSecondsOf({ acceptedAtMs, expiresAtMs, when }: DispatchHead): number | undefined {
  return expiresAtMs === undefined ? undefined : Math.round((expiresAtMs - (when?.fromMs ?? acceptedAtMs)) / 1_000);
}

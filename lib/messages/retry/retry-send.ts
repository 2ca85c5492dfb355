import type { ScopedCaller } from '../../access/campaign-scope.ts';
import type { Did } from '../../access/directory.ts';
import { type Fault, Refusal } from '../../http/refusal.ts';
import { present } from '../../keys/present.ts';
import { type AcceptPorts, acceptSend } from '../accept/accept-send.ts';
import { giveBackOf } from '../accept/accept-within-means.ts';
import type { Send } from '../accept/check-send.ts';
import type { Accepted } from '../accept/idempotency.ts';
import type { Means } from '../budget/means.ts';
import { type MarkPorts, type Retrying, unmarked, withMarked } from './mark-recipients.ts';
import { type RetryRecipient, type RetrySource, retrySource, type SourcePorts } from './retry-source.ts';

/** A retry of a dispatch, by a client that may use its DID. */
export interface Retry extends Pick<Send, 'jobId' | 'clientId' | 'time'> {
  readonly caller: ScopedCaller;
  readonly did: Did;
  readonly dispatchId: string;
  readonly codes: ReadonlySet<string> | undefined;
  readonly means: Means;
}

/** A retry as the send that it is. */
type RetrySend = Send & Pick<Retry, 'means'>;

export type RetryPorts = AcceptPorts & SourcePorts & Pick<MarkPorts, 'marks'>;

/**
 * Accepts a retry (D57): marks whom no other retry has, then accepts them as a send of the same template with the parameters
 * that they had (`acceptSend`), in the hours that the first one had asked for unless its headers say otherwise, with the whole time to live. Refuses as `retrySource`,
 * `withMarked` and `acceptSend` do; parameters that the template takes no more are 409 `not_retryable`.
 */
export async function acceptRetry(
  retry: Retry & { readonly remainingMs: () => number },
  ports: RetryPorts,
): Promise<Accepted> {
  const source = await sourceOf(retry, ports);
  const { remainingMs, clientId, means } = retry;
  const takenBack = giveBackOf(clientId, means, { ...ports, remainingMs });
  return await withMarked(retryingOf(retry, source), { ...ports, remainingMs, takenBack }, async (marked) => {
    const send = sendOf(retry, source, marked);
    return await judged({ retry, source, marked }, () => acceptSend({ ...send, remainingMs }, ports));
  });
}

/** The send that a retry would be now, handed to `rehearse` (D51): nothing is marked. Refuses as `acceptRetry` does. */
export async function rehearsedRetry<T>(
  retry: Retry,
  ports: SourcePorts & Pick<MarkPorts, 'marks'>,
  rehearse: (send: RetrySend) => Promise<T>,
): Promise<T> {
  const source = await sourceOf(retry, ports);
  const free = await unmarked(retryingOf(retry, source), ports);
  return await judged({ retry, source, marked: free }, () => rehearse(sendOf(retry, source, free)));
}

function sourceOf({ clientId, did, dispatchId, codes }: Retry, ports: SourcePorts): Promise<RetrySource> {
  return retrySource({ clientId, did: did.channel.did, dispatchId, codes }, ports);
}

function retryingOf({ jobId }: Retry, source: RetrySource): Retrying {
  return { jobId, source, wanted: source.recipients.map(({ index }) => index) };
}

function sendOf(retry: Retry, source: RetrySource, marked: ReadonlySet<number>): RetrySend {
  const { dispatchId: _source, codes: _chosen, ...send } = retry;
  const recipients = ofMarked(source, marked).map(({ recipient }) => recipient);
  const { time = source.time } = send;
  return { ...send, ...present({ time }), retryOf: source.jobId, request: { ...source.request, recipients } };
}

function ofMarked(source: RetrySource, marked: ReadonlySet<number>): readonly RetryRecipient[] {
  return source.recipients.filter(({ index }) => marked.has(index));
}

interface Judged {
  readonly retry: Pick<Retry, 'time'>;
  readonly source: RetrySource;
  readonly marked: ReadonlySet<number>;
}

/**
 * A client that retries has given no recipients: it is told which of its dispatch no longer fit, by their places in its report.
 * What is wrong with the time that it has given itself stays the refusal that a send gets (D56).
 */
async function judged<T>({ retry, source, marked }: Judged, judge: () => Promise<T>): Promise<T> {
  try {
    return await judge();
  } catch (error) {
    if (!(error instanceof Refusal) || !faultsOfInputs.has(error.code)) throw error;
    const positions = ofMarked(source, marked).map(({ position }) => position);
    const errors = (error.details.errors ?? []).map((fault) => inSource(fault, positions));
    if ((retry.time ?? source.time) !== undefined && errors.some(({ path }) => ofTime.test(path))) {
      throw new Refusal(error.code, named(error.message, positions), { errors, cause: error });
    }
    throw new Refusal('not_retryable', 'the parameters of the dispatch do not fit its template any more', {
      errors,
      cause: error,
    });
  }
}

const faultsOfInputs: ReadonlySet<string> = new Set(['invalid_recipients', 'invalid_request']);

/** Headers, and recipients whose clocks decide. */
const ofTime = /^(?:Send-.*|recipients\[\d+\]\.to)$/;

/** The places of its recipients are those of the report. */
function inSource({ path, message }: Fault, positions: readonly number[]): Fault {
  return { path: named(path, positions), message: named(message, positions) };
}

function named(text: string, positions: readonly number[]): string {
  return text.replaceAll(/\brecipients\[(\d+)\]/g, (_, at: string) => `recipients[${positions[Number(at)]}]`);
}

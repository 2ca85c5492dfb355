import type { ScopedCaller } from '../../access/campaign-scope.ts';
import type { Did } from '../../access/directory.ts';
import { type Fault, Refusal } from '../../http/refusal.ts';
import { type AcceptPorts, acceptSend } from '../accept/accept.ts';
import type { Send } from '../accept/check-send.ts';
import type { Accepted, IdempotencyPorts } from '../accept/idempotency.ts';
import type { CostLimits } from '../budget/cost-limits.ts';
import { acceptUnderNextKey, freeNow, type Retrying } from './retry-keys.ts';
import { type RetryRecipient, type RetrySource, retrySource, type SourcePorts } from './retry-source.ts';

/** Its client may use the DID of the dispatch. */
export interface Retry extends Pick<Send, 'dispatchId' | 'clientId' | 'time'> {
  readonly caller: ScopedCaller;
  readonly did: Did;
  readonly sourceId: string;
  readonly codes: ReadonlySet<string> | undefined;
  readonly means: CostLimits;
}

type RetrySend = Send & Pick<Retry, 'means'>;

export type RetryPorts = AcceptPorts & SourcePorts & Omit<IdempotencyPorts, 'newDispatchId'>;

/**
 * Accepts a retry (D57): sends to free recipients with their template and parameters, in the original hours unless it
 * has its own, with full time to live. Refuses also with 409 `not_retryable` when parameters no longer fit.
 */
export async function acceptRetry(retry: Retry, ports: RetryPorts): Promise<Accepted> {
  const source = await sourceOf(retry, ports);
  return await acceptUnderNextKey(retryingOf(retry, source), ports, async (chosen) => {
    const send = sendOf(retry, source, chosen);
    return await judged({ retry, source, chosen }, () => acceptSend(send, ports));
  });
}

/** Rehearses a retry as a send (D51), under no key. Refuses as `acceptRetry` does. */
export async function rehearsedRetry<T>(
  retry: Retry,
  ports: SourcePorts & Pick<IdempotencyPorts, 'records'>,
  rehearse: (send: RetrySend) => Promise<T>,
): Promise<T> {
  const source = await sourceOf(retry, ports);
  const chosen = await freeNow(retryingOf(retry, source), ports);
  return await judged({ retry, source, chosen }, () => rehearse(sendOf(retry, source, chosen)));
}

function sourceOf({ clientId, did, sourceId, codes }: Retry, ports: SourcePorts): Promise<RetrySource> {
  return retrySource({ clientId, did, sourceId, codes }, ports);
}

function retryingOf({ dispatchId, clientId, did }: Retry, source: RetrySource): Retrying {
  return { dispatchId, clientId, did: did.channel.did, source, wanted: source.recipients.map(({ index }) => index) };
}

function sendOf(retry: Retry, source: RetrySource, chosen: ReadonlySet<number>): RetrySend {
  const { sourceId: _source, codes: _codes, ...send } = retry;
  const recipients = chosenOf(source, chosen).map(({ recipient }) => recipient);
  const time = timeOf(send.time, source.time);
  return {
    ...send,
    time,
    retryOf: source.dispatchId,
    request: { ...source.request, recipients },
  };
}

/**
 * The source's hours, days and zone hold, beside a `Send-At` of the retry's own too: only its own hours replace them.
 */
function timeOf(own: Retry['time'], hours: RetrySource['time']): Retry['time'] {
  if (own === undefined || hours === undefined) return own ?? hours;
  if (own.window !== undefined || own.days !== undefined) return own;
  return { ...hours, ...own, asked: { ...hours.asked, ...own.asked } };
}

function chosenOf(source: RetrySource, chosen: ReadonlySet<number>): readonly RetryRecipient[] {
  return source.recipients.filter(({ index }) => chosen.has(index));
}

interface Judged {
  readonly retry: Pick<Retry, 'time'>;
  readonly source: RetrySource;
  readonly chosen: ReadonlySet<number>;
}

/**
 * Translates recipient faults to places in the report, because the client gave no recipients. Faults of the time stay
 * as in a send (D56).
 */
async function judged<T>({ retry, source, chosen }: Judged, judge: () => Promise<T>): Promise<T> {
  try {
    return await judge();
  } catch (error) {
    if (!(error instanceof Refusal) || !faultsOfInputs.has(error.code)) throw error;
    const positions = chosenOf(source, chosen).map(({ position }) => position);
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

/** The form matches headers, and recipients by whose clocks the time is decided. */
const ofTime = /^(?:Send-.*|recipients\[\d+\]\.to)$/;

function inSource({ path, message }: Fault, positions: readonly number[]): Fault {
  return { path: named(path, positions), message: named(message, positions) };
}

function named(text: string, positions: readonly number[]): string {
  return text.replaceAll(/\brecipients\[(\d+)\]/g, (_, at: string) => `recipients[${positions[Number(at)]}]`);
}

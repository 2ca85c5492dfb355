import { createHash } from 'node:crypto';
import type { ItemKey } from '../aws/item-key.ts';

/*
 * The messages table: how each of its items is addressed, and who may write a job in which state. One item each for
 *
 *   a job             JOB#<jobId> / JOB                        fan-out (head, progress, round<part>: fan-out/rounds.ts; round, queued, wave: rounds/job-rounds.ts) or a withdrawal; stop and park; see below.
 *                                                              Of a straight message (straight-message.ts): acceptance or a worker (head, to)
 *   its commit        JOB#<jobId> / COMMIT                     acceptance, for a job in parts
 *   a job of a day    DID#<did>#<UTC day> / <ms>#<jobId>       fan-out, for operators who list jobs
 *   a claim           JOB#<jobId>#<partition> / <index>        dispatch; one per message. Receipts, in doubt
 *   a batch record    BATCH#<invocation> / BATCH               dispatch; what the platform took
 *   a remembered key  IDEMPOTENCY#<client>#<did>#<hash> / IDEMPOTENCY   acceptance (idempotency.ts)
 *   a question        QUESTION#<question> / QUESTION           resolution of a template (questions.ts)
 *   a client's turns  QUESTIONS#<client> / QUESTIONS           the same, counted by the minute
 *   an acceptance     JOB#<jobId> / ACCEPTED                   acceptance, once the queue has the job, else the fan-out: what its report opens with
 *   its recipients    JOB#<jobId> / RECIPIENTS#<first index>   with it, packed
 *   their parameters  PARAMS#<jobId>#<group> / <first index>   acceptance, before the queue has the job, packed (accept/parameter-pages.ts)
 *   a job of a client DISPATCHES#<client>#<did> / <ms>#<jobId> with it, for the client who lists dispatches (D40)
 *   receipts          RECEIPTS#<jobId>#<group> / <hash>        receipts, appended; folded by whoever reads (receipts/fold.ts)
 *   a doubt           JOB#<jobId> / DOUBT                      dispatch, before it gives a claim back or settles one `unknown`
 *   a number's pace   PACE#<phoneNumberId> / PACE              whoever reserves slots: fan-out, dispatch (pace/schedule.ts)
 *   its last tenth    PACE#<phoneNumberId> / URGENT            dispatch, for one-time codes (pace/urgent.ts)
 *   workers' shares   WORKERS / SHARES                         fan-out, what each client wants of the workers (pace/worker-shares.ts)
 *   the breaker       PLATFORM / BREAKER                       dispatch, when the platform stops to answer, and answers again (dispatch/breaker.ts)
 *
 * These spellings are stored for 30 days: a test holds them letter for letter.
 */

const jobPrefix = 'JOB#';

/** Claims of one partition: 40 partitions for the largest job, each far below what one partition can take. */
export const claimsPerPartition = 250;

export function jobKey(jobId: string): ItemKey {
  return { pk: `JOB#${jobId}`, sk: 'JOB' };
}

export function commitKey(jobId: string): ItemKey {
  return { pk: `JOB#${jobId}`, sk: 'COMMIT' };
}

/**
 * Whether an accepted job is sent (D25). Its messages are in the queue before anybody knows that all of them are, so two
 * writers meet at the job item, and exactly one comes first:
 *
 * - *begin*, by the fan-out, sets `head` unless `withdrawnAtMs` is there: from then on the whole job is sent.
 * - *withdraw*, by the acceptance, sets `withdrawnAtMs` unless `head` is there: from then on nothing of it is sent.
 *
 * Either may be repeated by its own side. A job in parts needs its commit too: the fan-out begins no part before the
 * acceptance has written that all parts are queued. Only TTL removes either item.
 *
 * A request of one recipient has no fan-out: its message goes straight into the dispatch queue. Its job is begun by the
 * acceptance, once the queue has confirmed the message, or by the worker who has claimed the message and finds no `head`: it
 * begins the job before anything leaves or is told. A worker that finds the job withdrawn drops the message without a word. So
 * what was withdrawn is never sent, what is sent has begun, and nothing has begun that is not in the queue: a process that
 * dies between the queue and the item leaves a message whose worker writes the item.
 */
export const mayBegin = 'attribute_not_exists(withdrawnAtMs)';
export const mayWithdraw = 'attribute_not_exists(head)';

/** How long jobs and claims are kept (R23), a job counted from its acceptance. */
export const jobMemorySeconds = 30 * 86_400;

/**
 * Whether what nobody has claimed of a job is sent (D46, D53; job-state.ts). Beside begin and withdraw, in the same item:
 *
 * - *stop*, by a client's cancellation, by a worker that is told that the template is disabled, and by the watcher of a
 *   parked job: sets `stop` unless it is there, at any time, also before begin. The first one is final, and ends `parked`.
 * - *park*, by a worker that is told that the template is paused: sets `parked` in a job that has begun unless it, or `stop`,
 *   is there.
 * - *resume*, by the watcher: removes the `parked` that it has looked at, named by `sinceMs`, and no later one.
 * - *end of the pause*, by a worker whose message was taken: removes `pausedFromMs`, which the first *park* has set, which
 *   *resume* leaves, and from which the day is counted. By the watcher too, when nobody has parked the job again for long.
 *
 * A worker claims a message, *then* reads the state, strongly, *then* hands the message over: so whatever is claimed after
 * the stop sees it, and what a run was about to send when the stop came goes its way. It settles what it claimed as `stop`
 * says; of a parked job it gives the claim back. The fan-out, before it queues anything, does the same with what was never
 * queued: claims it, settled as `stop` says. Nobody else says how a message of a stopped job ended: a claim decides between
 * the two, so each is told once, under one id. A report need not wait for them: without a claim a message ends as `stop`
 * says, to whoever has read the claims, strongly, after the stop.
 *
 * - *end*, by a cancellation or a watcher that is about to tell that all of a stopped job has ended: sets `endedAtMs` unless it
 *   is there. Copies of messages may still be in the queue then: a worker claims one, sees the stop, settles it. Without
 *   the word of the end, such a claim would look like one that goes its way; with it, whoever reads a claim that was not
 *   there then knows how it ends.
 * - *reckon*, of a job whose outcomes stand in slices, by a cancellation or a watcher, once all slices were read after the stop,
 *   strongly: sets `underWay` unless it is there, to the tries of which somebody may have been called. Every other try was, or
 *   will be, claimed after the stop: it ends as `stop` says, whatever becomes of its worker. Before this is written, what is
 *   open is pending to every report; afterwards to none, but of those tries. So nothing that was told as ended is pending again,
 *   and no clock is compared. It takes the place of *end*.
 *
 * Withdrawn goes before stopped: a job that was withdrawn is none, and its stop says nothing.
 */
export const mayStop = 'attribute_not_exists(#stop)';
export const mayPark = 'attribute_exists(head) AND attribute_not_exists(#stop) AND attribute_not_exists(parked)';
export const mayEnd = 'attribute_exists(#stop) AND attribute_not_exists(endedAtMs)';
export const mayReckon = 'attribute_exists(#stop) AND attribute_not_exists(underWay)';
export const mayResume = 'parked.sinceMs = :sinceMs';
export const mayEndPause = 'attribute_exists(pausedFromMs)';

/** Partition of the jobs of one DID and UTC day; inside it, jobs sort by acceptance. */
export function jobsOfDayPartition(did: string, atMs: number): string {
  return `DID#${did}#${new Date(atMs).toISOString().slice(0, 10)}`;
}

/** Without a job id, sorts before every job of that moment. */
export function jobsOfDaySortKey(atMs: number, jobId = ''): string {
  return `${String(atMs).padStart(15, '0')}#${jobId}`;
}

export function claimPartition(jobId: string, partition: number): string {
  return `JOB#${jobId}#${partition}`;
}

export function claimKey({ jobId, index }: { readonly jobId: string; readonly index: number }): ItemKey {
  return {
    pk: claimPartition(jobId, Math.floor(index / claimsPerPartition)),
    sk: String(index).padStart(5, '0'),
  };
}

/** The job of a partition of claims. */
export function jobOfClaims(pk: unknown): string {
  const partition = jobOfPartition(pk);
  return partition.slice(0, partition.lastIndexOf('#'));
}

/** Who may change a claim: its claimant, while it is `claimed`. Names and values of the condition belong to it. */
export const stillClaimed = {
  condition: '#at = :at AND #state = :claimed',
  /** A repeated settlement whose first reply was lost finds its own: that is success. By its code: an operator's word has another. */
  orSettledSo: '#at = :at AND (#state = :claimed OR (#state = :state AND code = :code))',
  /** The word of an operator or a receipt replaces the outcome that was seen, and no other. */
  asSeen: '#at = :at AND #state = :seen',
  names: { '#at': 'at', '#state': 'state' },
} as const;

/** The record of an acceptance (D40), and where its recipients begin. */
export function acceptedKey(jobId: string): ItemKey {
  return { pk: `JOB#${jobId}`, sk: 'ACCEPTED' };
}

export const recipientsPrefix = 'RECIPIENTS#';

export function recipientsKey(jobId: string, firstIndex: number): ItemKey {
  return { pk: `JOB#${jobId}`, sk: `${recipientsPrefix}${firstIndex}` };
}

/**
 * Recipients whose parameters share a partition. A partition takes 1 MB a second, and acceptance writes up to 6 MB of a job
 * within a second or two.
 */
const parametersPerPartition = 500;

/** Where the page of parameters is, or would be, that begins with this recipient; no page goes on in the next partition. */
export function parametersKey({ jobId, index }: { readonly jobId: string; readonly index: number }): ItemKey {
  return {
    pk: `PARAMS#${jobId}#${Math.floor(index / parametersPerPartition)}`,
    sk: String(index).padStart(5, '0'),
  };
}

/** The first index of the next partition of parameters. */
export function nextParameters(index: number): number {
  return (Math.floor(index / parametersPerPartition) + 1) * parametersPerPartition;
}

/** Everything that is written about a job as a whole. */
export function jobPartition(jobId: string): string {
  return `${jobPrefix}${jobId}`;
}

/** Partition of the dispatches of one client from one DID; inside it, they sort as jobs of a day do. */
export function dispatchesPartition(clientId: number, did: string): string {
  return `DISPATCHES#${clientId}#${did}`;
}

/**
 * Whether receipts may change more than the report of a job (D39). Two write and then read, in opposite order:
 *
 * - *the dispatch*, about to give back a claim after a call, or to settle one `unknown`: writes the doubt, then reads the
 *   receipts of the message, strongly; where there is one it settles `sent` instead. Before it tells of `unknown` it reads
 *   them once more: a run that met the claim before, and a batch record for it, has left it alone.
 * - *a run of receipts*: appends them, then reads the doubt, strongly; where there is one it reads the claims of its
 *   messages. It takes a claim that is not there, and settles `unknown`, and `claimed` without a batch record, to `sent`.
 *
 * Of the two one writes second and so reads the other's write. Either sees the receipt before the claim is gone, or the
 * doubt after it; a claim that changes between a run's read and its write refuses the write, and is read again. So no copy
 * of the message gets past a receipt whose run has ended, and `unknown` with a receipt does not stay. Nobody removes a doubt:
 * TTL does, with the job.
 */
export function doubtKey(jobId: string): ItemKey {
  return { pk: jobPartition(jobId), sk: 'DOUBT' };
}

/** The inverse of `doubtKey` and `jobKey`. */
export function jobOfPartition(pk: unknown): string {
  return String(pk).slice(jobPrefix.length);
}

/** Receipts of one group: 10 groups for the largest job, each a page or two when every receipt comes in an item of its own. */
const receiptsPerGroup = 1_000;

export function receiptGroupOf(index: number): number {
  return Math.floor(index / receiptsPerGroup);
}

const receiptsPrefix = 'RECEIPTS#';

export function receiptPartition(jobId: string, group: number): string {
  return `${receiptsPrefix}${jobId}#${group}`;
}

/** The job of a partition of receipts. */
export function jobOfReceipts(pk: string): string {
  return pk.slice(receiptsPrefix.length, pk.lastIndexOf('#'));
}

const batchPrefix = 'BATCH#';

export function batchKey(invocation: string): ItemKey {
  return { pk: `${batchPrefix}${invocation}`, sk: 'BATCH' };
}

/** The inverse of `batchKey`. */
export function invocationOfBatch(pk: unknown): string {
  return String(pk).slice(batchPrefix.length);
}

/** The client's own key is hashed: clients may put into it what they like. */
export function idempotencyKey(scope: {
  readonly clientId: number;
  readonly did: string;
  readonly key: string;
}): ItemKey {
  const hash = createHash('sha256').update(scope.key).digest('base64url');
  return { pk: `IDEMPOTENCY#${scope.clientId}#${scope.did}#${hash}`, sk: 'IDEMPOTENCY' };
}

export function questionKey(question: string): ItemKey {
  return { pk: `QUESTION#${question}`, sk: 'QUESTION' };
}

export function turnsKey(clientId: number): ItemKey {
  return { pk: `QUESTIONS#${clientId}`, sk: 'QUESTIONS' };
}

/** The pace of a number: its schedule, and what was learned of it (D43). */
export function paceKey(phoneNumberId: string): ItemKey {
  return { pk: `PACE#${phoneNumberId}`, sk: 'PACE' };
}

/** The part of a number that is kept for one-time codes (D44). */
export function urgentKey(phoneNumberId: string): ItemKey {
  return { pk: `PACE#${phoneNumberId}`, sk: 'URGENT' };
}

/** What the clients that are being sent for want of the workers (D45). */
export const workerSharesKey: ItemKey = { pk: 'WORKERS', sk: 'SHARES' };

/** Whether the platform is down as a whole: one item, read once by each batch of messages. */
export const breakerKey: ItemKey = { pk: 'PLATFORM', sk: 'BREAKER' };

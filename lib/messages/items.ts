import { createHash } from 'node:crypto';
import type { ItemKey } from '../aws/item-key.ts';
import { hashKey } from '../keys/hash-key.ts';

/*
 * The messages table: how each of its items is addressed, and who may write a job in which state. One item each for
 *
 *   a job             JOB#<jobId> / JOB                        fan-out (head, rounds: fan-out/job-rounds.ts), or acceptance or a worker of a
 *                                                              straight request (head, to: chunk.ts), or a withdrawal; stop and park; see below
 *   an acceptance     JOB#<jobId> / ACCEPTED                   acceptance, before the queue has the job: what its report opens with
 *   its recipients    JOB#<jobId> / RECIPIENTS#<first index>   with it, packed: their addresses
 *   their parameters  PARAMS#<jobId>#<group> / <first index>   the same, packed (accept/parameter-pages.ts)
 *   a job of a client DISPATCHES#<client> / <ms>#<jobId>       acceptance, else the fan-out, for the lists of clients and operators (D40, D59)
 *   who is retried    RETRIES#<jobId> / RETRIES                acceptance of its retries: by which of them (retry/marks.ts)
 *   a slice           JOB#<jobId>#<partition> / SLICE#<slice>  workers, receipts, the fan-out; one for ten messages (dispatch/claims/slice.ts)
 *   a remembered key  IDEMPOTENCY#<client>#<did>#<hash> / IDEMPOTENCY   acceptance (idempotency.ts)
 *   a question        QUESTION#<question> / QUESTION           resolution of a template (questions.ts)
 *   a client's turns  QUESTIONS#<client> / QUESTIONS           the same, counted by the minute
 *   receipts          RECEIPTS#<jobId>#<group> / <hash>        receipts, appended; folded by their readers (receipts/fold.ts)
 *   a doubt           JOB#<jobId> / DOUBT                      workers, before they give a claim back or settle one `unknown`
 *   a number's pace   PACE#<phoneNumberId> / PACE              fan-out and workers, who reserve slots (pace/schedule.ts)
 *   its last tenth    PACE#<phoneNumberId> / URGENT            workers, for one-time codes (pace/urgent.ts)
 *   the breaker       PLATFORM / BREAKER                       workers, when the platform stops to answer, and answers again (holds/breaker.ts)
 *   holds of a WABA   WABA#<id> / HOLDS                        workers, watchers, hints and operators (holds/hold.ts)
 *   a replaced id     USERID#<wabaId>#<user id> / REPLACED     inbound: the id that has taken its place; for acceptance (accept/replaced-ids.ts)
 *   whom a job wrote  WROTE#<phoneNumberId>#<group> / <ms>#<jobId>   acceptance on a shared number, before it queues (inbound/correspondents.ts)
 *   a platform's id   SENT#<hash> / SENT                       workers, for clients that want to be told of answers (inbound/sent-ids.ts)
 *   a send with a     SCHEDULED#<shard> / <jobId>              the fan-out, when it begins it; goes when all of it is released: a
 *     time of its own                                          round of it that is lost is found by it (fan-out/lost-rounds.ts)
 *   what is learned   ERASING#<name of a person> / IDS         an erasing, until it has ended (erase/learned-ids-store.ts)
 *   what was counted  JOB#<jobId> / SPENT                      counts of a job's cost, under a version (spend/statement.ts)
 *   a count to come   JOB#<jobId> / COUNT                      receipts and watchers, before they queue one (spend/later-counts.ts)
 *   a reservation     JOB#<jobId> / RESERVED                   acceptance, of a client with a budget (budget/budgets-store.ts)
 *   a month's money   BUDGET#<client> / <month>                the same, and counts of cost (D58)
 *   a budget told     BUDGET#<client> / <month>#TOLD             acceptance: what a client knows of its month (budget/tell-reached.ts)
 *   sums of a day     SPEND#<client> / <day>#<shard>           counts of cost and outcomes, which add (spend/spend.ts); for 400 days
 *
 * Beside them stand opt-outs, for ever (lib/opt-outs/opt-out-items.ts), which the worker of the
 * inbound queue writes and the workers of chunks read after a claim.
 *
 * These spellings are stored for 30 days, or longer (D56): a test holds them letter for letter.
 */

const jobPrefix = 'JOB#';

export function jobKey(jobId: string): ItemKey {
  return { pk: `JOB#${jobId}`, sk: 'JOB' };
}

/**
 * Whether an accepted job is sent (D25). Its messages are in the queue before anybody knows that all of them are, so two
 * writers meet at the job item, and exactly one comes first:
 *
 * - *begin*, by the fan-out, sets `head` unless `withdrawnAtMs` is there: from then on the whole job is sent.
 * - *withdraw*, by the acceptance, sets `withdrawnAtMs` unless `head` is there: from then on nothing of it is sent.
 *
 * Either may be repeated by its own side. Only TTL removes the item. A retry (D57) is begun by its acceptance as well, before it
 * answers 200: another retry of the same recipients may take back what has not begun (retry/marks.ts).
 *
 * A request of up to ten recipients has no fan-out: its one chunk goes straight into a dispatch queue. Its job is begun by the
 * acceptance, once the queue has confirmed the chunk, or by the worker that has claimed slice 0 of it: the worker begins the job
 * before anything leaves or is told. A withdrawal takes slice 0 in the same transaction, so one of the two is first: a worker
 * that finds it taken drops the chunk without a word. So what was withdrawn is never sent, and what is sent has begun.
 */
export const mayBegin = 'attribute_not_exists(withdrawnAtMs)';
export const mayWithdraw = 'attribute_not_exists(head)';

/** How long jobs and claims are kept (R23), a job counted from its acceptance. */
export const jobMemorySeconds = 30 * 86_400;

/** A send with a time of its own is kept so long after its last possible call (D56). */
export const keptAfterLastCallMs = 37 * 86_400_000;

/** No job is kept longer after its acceptance: 30 days until `Send-At`, 28 until hours come, 30 of life, and what follows (D56). */
export const longestJobMemorySeconds = (30 + 28 + 30) * 86_400 + keptAfterLastCallMs / 1_000;

/** What says until when a job is kept, of its head or of a chunk. */
export interface JobAge {
  readonly acceptedAtMs: number;
  readonly keptUntilMs?: number | undefined;
}

/** The last possible call of a send with a time of its own; undefined of any other (D56). */
export function lastOwnCallMs({ keptUntilMs }: Pick<JobAge, 'keptUntilMs'>): number | undefined {
  return keptUntilMs === undefined ? undefined : keptUntilMs - keptAfterLastCallMs;
}

/** From then on what is stored of a job may go. */
export function forgottenAtMs({ acceptedAtMs, keptUntilMs = acceptedAtMs + jobMemorySeconds * 1_000 }: JobAge): number {
  return keptUntilMs;
}

/** The same as TTL takes it. */
export function jobExpiresAtSeconds(job: JobAge): number {
  return Math.ceil(forgottenAtMs(job) / 1_000);
}

/**
 * Whether what no worker has claimed of a job is sent (D46, D53; job-state.ts). Beside begin and withdraw, in the same item:
 *
 * - *stop*, by a client's cancellation, by a worker that is told that the template is disabled, and by the watcher of a
 *   parked job: sets `stop` unless it is there, at any time, also before begin. The first one is final, and ends `parked`.
 * - *park*, by a worker that meets a hold (holds/hold.ts): sets `parked` in a job that has begun unless it, or `stop`, is there.
 * - *go on*, by a worker whose message was taken of a job that is still parked so: notes it in `parked`.
 * - *resume*, by the watcher, once nothing holds the job: removes the `parked` that it has looked at, named by `sinceMs`, and no
 *   later one; with it `pausedFromMs` where the job goes on.
 * - *end of the pause*, by a worker whose message was taken of a job that waits no more: removes `pausedFromMs`, which the first
 *   *park* has set, which *resume* leaves, and from which the day is counted. By the watcher too, when no worker has parked the
 *   job again for long. Refused while the job is parked: else no watcher would tell that this pause is over.
 *
 * A worker claims a slice, *then* reads the state and the holds, strongly, *then* calls its recipients: so whatever is claimed
 * after a stop or a hold sees it, and whom a run was about to call when it came is called. It ends what it claimed as `stop`
 * says; of what is held it ends the try `again`. The worker that finds a claim of the dead reads the state as well: where it is certain (*reckon*) that
 * the dead saw the stop, it ends the try so. The fan-out, before it queues anything, ends slices that were never queued as `stop`
 * says, uncalled. The slice decides between the two, so each ending is told once, under one id. A report need not wait for them:
 * a message whose slice no worker has claimed ends as `stop` says, to a reader of all slices, strongly, after the stop.
 *
 * - *reckon*, by a cancellation or a watcher, once all slices were read after the stop, strongly: sets `underWay` unless it is
 *   there, to the tries that are claimed. What is recorded stands, and every other try will be claimed after the stop: it ends
 *   as `stop` says, whatever becomes of its worker. Before this is written, what is open is pending to every report; afterwards
 *   to none, but of those tries. So nothing that was told as ended is pending again,
 *   and no clock is compared.
 *
 * Withdrawn goes before stopped: a job that was withdrawn is none, and its stop says nothing.
 */
export const mayStop = 'attribute_not_exists(#stop)';
export const mayPark = 'attribute_exists(head) AND attribute_not_exists(#stop) AND attribute_not_exists(parked)';
export const mayReckon = 'attribute_exists(#stop) AND attribute_not_exists(underWay)';
export const isParkedSo = 'parked.sinceMs = :sinceMs';
export const mayGoOn = `${isParkedSo} AND attribute_not_exists(parked.goesOn)`;
export const mayEndPause = 'attribute_exists(pausedFromMs) AND attribute_not_exists(parked)';

/** Partitions of the jobs with a time of their own: few, for all of them are read each time. */
export const scheduledShards = 8;

/** Of a shard, counted from 0. */
export function scheduledPartition(shard: number): string {
  return `SCHEDULED#${shard}`;
}

/** A send with a time of its own of which something may wait (D56): by the end of its id, which is random. */
export function scheduledKey(jobId: string): ItemKey {
  return { pk: scheduledPartition((jobId.at(-1) ?? '0').charCodeAt(0) % scheduledShards), sk: jobId };
}

/** Where a job stands among others, by its acceptance. Without a job id, before every job of that moment. */
export function jobSortKey(atMs: number, jobId = ''): string {
  return `${String(atMs).padStart(15, '0')}#${jobId}`;
}

/** The moment of a `jobSortKey`. */
export function timeOfJob(sortKey: string): number {
  return Number(sortKey.split('#', 1)[0]);
}

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

/** Partition of the dispatches of one client, from whichever DID, in the order of their acceptance (`jobSortKey`). */
export function dispatchesPartition(clientId: number): string {
  return `DISPATCHES#${clientId}`;
}

/**
 * Whether receipts may change more than the report of a job (D39). Two write and then read, in opposite order:
 *
 * - *a worker*, about to end a try of which a recipient is `unknown`: writes the doubt, ends the try, then reads the receipts of
 *   the slice, strongly, before it tells; one with a receipt is settled to `sent`. A later try reads them after its claim, and
 *   ends those with a receipt `sent`, uncalled.
 * - *a run of receipts*: appends them, then reads the doubt, strongly; where there is one it reads the slices of its messages,
 *   and settles what is `unknown` in them to `sent`.
 *
 * Of the two one writes second and so reads the other's write: the worker sees the receipt, or the run of receipts the doubt; a
 * slice that changes between a run's read and its write refuses the write, and is read again. So no later try calls a recipient
 * whose receipt was appended before its claim, and `unknown` with a receipt does not stay. Only TTL removes a doubt, with the job.
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

/** What was counted of a job's cost, and is in the sums (D58). */
export function spentKey(jobId: string): ItemKey {
  return { pk: jobPartition(jobId), sk: 'SPENT' };
}

/** When the next count of the cost of a job begins. */
export function countKey(jobId: string): ItemKey {
  return { pk: jobPartition(jobId), sk: 'COUNT' };
}

/** What a job has reserved of its client's month. */
export function reservedKey(jobId: string): ItemKey {
  return { pk: jobPartition(jobId), sk: 'RESERVED' };
}

/** What is committed of a client's month, `YYYY-MM` in UTC. */
export function budgetKey(clientId: number, month: string): ItemKey {
  return { pk: `BUDGET#${clientId}`, sk: month };
}

/** The sums of a client, one day (`YYYY-MM-DD` in UTC) after the other. */
export function spendPartition(clientId: number): string {
  return `SPEND#${clientId}`;
}

/** Sums of a day and what is left of the money of a month are kept so long. */
export const spendKeptDays = 400;

/** Until then what is told of a day's or a month's money is kept, as TTL takes it: a month beyond what any page asks for. */
export function moneyKeptUntilSeconds(fromMs: number): number {
  return Math.ceil(fromMs / 1_000) + (spendKeptDays + 31) * 86_400;
}

/** Which recipients of a job are retried, and by which jobs (D57). */
export function retriesKey(jobId: string): ItemKey {
  return { pk: `RETRIES#${jobId}`, sk: 'RETRIES' };
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

/** Whether the platform is down as a whole: one item, read once by each run of a worker. */
export const breakerKey: ItemKey = { pk: 'PLATFORM', sk: 'BREAKER' };

/** What is held of a WABA, its numbers and its templates: one item, read with the job after each claim (D46). */
export function holdsKey(wabaId: string): ItemKey {
  return { pk: `WABA#${wabaId}`, sk: 'HOLDS' };
}

const replacedPrefix = 'USERID#';

/** The platform's word that a business-scoped user id is no more: of each WABA by itself, for portfolios share no ids. */
export function replacedIdKey(wabaId: string, userId: string): ItemKey {
  return { pk: `${replacedPrefix}${wabaId}#${userId}`, sk: 'REPLACED' };
}

/** The inverse of `replacedIdKey`; a user id has no `#`. */
export function userIdOfReplaced(pk: string): string {
  return pk.slice(pk.lastIndexOf('#') + 1);
}

/** The people of a group to whom jobs wrote from a number, by keyed digests, in the order of acceptance (`jobSortKey`). */
export function wrotePartition(phoneNumberId: string, group: string): string {
  return `WROTE#${phoneNumberId}#${group}`;
}

/**
 * The platform's id of a message, with the number that sent it: what is told of another number finds nothing. Hashed, for such an
 * id holds the recipient's number in a readable code (D60).
 */
export function sentIdKey(message: {
  readonly wabaId: string;
  readonly phoneNumberId: string;
  readonly platformMessageId: string;
}): ItemKey {
  return { pk: `SENT#${hashKey([message.wabaId, message.phoneNumberId, message.platformMessageId], 26)}`, sk: 'SENT' };
}

/** Other ids of a person who is being erased (D60); the name is a keyed digest (opt-outs/person-name.ts). */
export function erasingKey(name: string): ItemKey {
  return { pk: `ERASING#${name}`, sk: 'IDS' };
}

/** What a client was told of the budget of a month, `2026-11` (D58). */
export function toldBudgetKey(clientId: number, month: string): ItemKey {
  return { pk: `BUDGET#${clientId}`, sk: `${month}#TOLD` };
}

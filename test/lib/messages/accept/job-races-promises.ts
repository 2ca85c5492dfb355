import { rememberedMs } from '../../../../lib/messages/accept/idempotency.ts';
import { hasWorker, jobIdOf, jobIn, type Request } from './job-races-model.ts';
import { afterOneMore, isLive, noAnswer, startMs, type World } from './job-races-space.ts';

type Came = Request & { readonly place: number };

/** Throws when a promise is broken now, or would be once faults end. */
export async function checkPromises(world: World): Promise<void> {
  checkNow(world);
  if (world.late.length > 0 || world.requests.some(isLive)) return;
  const end = await afterOneMore(world);
  checkNow(end);
  const last = end.requests.at(-1);
  const refused = last?.answer?.code === 'nothing_to_retry' && isRetried(last, end.requests);
  if (last?.answer?.code !== '200' && !refused)
    throw new Error(`D9: the same request once more is answered ${JSON.stringify(last?.answer)}`);
  for (const { answer } of end.requests) {
    if (answer?.code !== '200') continue;
    const { item, listed } = jobIn(end, answer.jobId ?? '');
    if (!item.withdrawn && !(item.begun && listed)) throw new Error('D25: a job that was answered 200 is lost');
  }
}

/** Returns whether each recipient that a retry asks for is in a retry that has begun. */
function isRetried({ wanted = [] }: Request, requests: readonly Request[]): boolean {
  const retried = requests.filter(isSent).flatMap(({ job }) => job.retries);
  return wanted.every((index) => retried.includes(index));
}

/** Checks the invariants of every moment. */
function checkNow({ requests }: World): void {
  const retried = requests.filter(isSent).flatMap(({ job }) => job.retries);
  if (new Set(retried).size < retried.length) throw new Error('R55: a recipient is in two retries');
  const came = requests.flatMap((request, place) => (request.startedAtMs === undefined ? [] : [{ ...request, place }]));
  for (const request of came) {
    checkJob(request);
    checkAnswer(request, requests);
  }
  // A key is remembered for 48 hours; later requests count as others.
  const ofOneMemory = Map.groupBy(
    came.filter(({ keyed }) => keyed),
    ({ startedAtMs = 0 }) => Math.floor((startedAtMs - startMs) / rememberedMs),
  );
  for (const group of ofOneMemory.values()) checkKey(group, requests);
}

const isSent = ({ job }: Pick<Request, 'job'>) => job.item.begun || hasWorker(job);
const isAccepted = ({ answer }: Pick<Request, 'answer'>) => answer?.code === '200';

function checkJob({ kind, job, place }: Came): void {
  const { stored, described, queued, listed } = job;
  const { withdrawn } = job.item;
  if (listed && !withdrawn && !queued) throw new Error(`D40: the job of request ${place} is listed, and never queued`);
  if (!isSent({ job })) return;
  if (!queued) throw new Error(`D25: the job of request ${place} has begun and is not queued`);
  if (withdrawn) throw new Error(`D25: the job of request ${place} is taken back, and sent and told of`);
  if (kind === 'large' && !(stored && described)) throw new Error(`the job of request ${place} cannot be read`);
}

function checkAnswer(request: Came, requests: readonly Request[]): void {
  const { answer, place } = request;
  if (answer === undefined || answer === noAnswer || answer.code === 'dispatch_undecided') return;
  if (!isAccepted(request)) {
    if (isSent(request)) throw new Error(`D25: request ${place} is answered ${answer.code}, and sent`);
    return;
  }
  const made = madeFor(request, requests);
  if (!made.job.queued) throw new Error(`D25: request ${place} is told 200, and its job is not queued`);
  if (made.kind !== request.kind) throw new Error(`R21: request ${place} is told the job of another body`);
  if (made.job.item.withdrawn && !wasTakenBack(made))
    throw new Error(`D25: request ${place} is told 200, and not sent`);
  if (made.kind === 'retry' && !made.job.item.begun)
    throw new Error(`D57: the retry of request ${place} is told 200 and may be taken back`);
}

function checkKey(group: readonly Came[], requests: readonly Request[]): void {
  if (group.filter(isSent).length > 1) throw new Error('R21: two jobs of one key are sent');
  const made = group.filter(isAccepted).map((request) => madeFor(request, requests));
  if (new Set(made.map(({ place }) => place)).size > 1 && !made.some(wasTakenBack)) {
    throw new Error('R21: two requests of one key are told two jobs');
  }
}

/** Returns the request whose job was reported to another request. */
function madeFor({ answer }: Request, requests: readonly Request[]): Came {
  const place = requests.findIndex((_, at) => jobIdOf(at) === answer?.jobId);
  return { ...(requests[place] as Request), place };
}

/**
 * One case is open (infra/README.md, "Not there yet"): the accepted answer could not be stored under its key, and the
 * job had not begun after 35 s. The next request replaces it. A retry begins before its answer.
 */
function wasTakenBack({ kind, job, keyed }: Request): boolean {
  return kind !== 'retry' && keyed && job.item.withdrawn === true && !job.completed;
}

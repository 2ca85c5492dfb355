import { rememberedMs } from '../../../../lib/messages/accept/idempotency.ts';
import { hasWorker, jobIdOf, jobIn, type Request } from './job-races-model.ts';
import { afterOneMore, isLive, noAnswer, startMs, type World } from './job-races-space.ts';

type Came = Request & { readonly place: number };

/** Throws where a promise is broken now, or would be if nothing failed any more. */
export async function checkPromises(world: World): Promise<void> {
  checkNow(world);
  if (world.late.length > 0 || world.requests.some(isLive)) return;
  const end = await afterOneMore(world);
  checkNow(end);
  const last = end.requests.at(-1)?.answer;
  if (last?.code !== '200') throw new Error(`D9: the same request once more is answered ${JSON.stringify(last)}`);
  for (const { answer } of end.requests) {
    if (answer?.code !== '200') continue;
    const { item, listed } = jobIn(end, answer.jobId ?? '');
    if (!item.withdrawn && !(item.begun && listed)) throw new Error('D25: a job that was answered 200 is lost');
  }
}

/** What may not be at any moment. */
function checkNow({ requests }: World): void {
  const came = requests.flatMap((request, place) => (request.startedAtMs === undefined ? [] : [{ ...request, place }]));
  for (const request of came) {
    checkJob(request);
    checkAnswer(request, requests);
  }
  // A key is remembered for 48 hours: requests of another time are others.
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
}

function checkKey(group: readonly Came[], requests: readonly Request[]): void {
  if (group.filter(isSent).length > 1) throw new Error('R21: two jobs of one key are sent');
  const made = group.filter(isAccepted).map((request) => madeFor(request, requests));
  if (new Set(made.map(({ place }) => place)).size > 1 && !made.some(wasTakenBack)) {
    throw new Error('R21: two requests of one key are told two jobs');
  }
}

/** The request whose job another was told of. */
function madeFor({ answer }: Request, requests: readonly Request[]): Came {
  const place = requests.findIndex((_, at) => jobIdOf(at) === answer?.jobId);
  return { ...(requests[place] as Request), place };
}

/**
 * The one thing that is not promised (infra/README.md, "Not there yet"): the answer of an accepted job could not be recorded
 * under its key, and its job had not begun 35 s later. The next request takes it back and is accepted in its place.
 */
function wasTakenBack({ job, keyed }: Request): boolean {
  return keyed && job.item.withdrawn === true && !job.completed;
}

import { rememberedMs } from '../../../../lib/messages/accept/idempotency.ts';
import { jobIdOf, type Request } from './key-races-model.ts';
import { afterOneMore, isLive, startMs, type World } from './key-races-space.ts';

/** Throws where a promise is broken now, or would be if nothing failed any more. */
export async function checkPromises(world: World): Promise<void> {
  checkNow(world);
  if (world.late.length > 0 || world.requests.some(isLive)) return;
  const end = await afterOneMore(world);
  const { answer } = end.requests.at(-1) as Request;
  if (answer?.status !== 200) {
    throw new Error(`D9: after all runs are over, the same request once more is answered ${JSON.stringify(answer)}`);
  }
  try {
    checkNow(end);
  } catch (error) {
    throw new Error(`${(error as Error).message}, once the same request has come once more`, { cause: error });
  }
}

/** What may not be at any moment. A key is remembered for 48 hours: requests of another time are others. */
function checkNow({ requests }: World): void {
  const came = requests.flatMap((request, place) => (request.startedAtMs === undefined ? [] : [{ ...request, place }]));
  const ofOneMemory = Map.groupBy(came, ({ startedAtMs = 0 }) => Math.floor((startedAtMs - startMs) / rememberedMs));
  for (const group of ofOneMemory.values()) {
    if (group.filter(({ job }) => job.begun).length > 1) throw new Error('R21: two jobs of one key are sent');
    const accepted = group.filter(({ answer }) => answer?.status === 200);
    if (new Set(accepted.map(({ answer }) => answer?.jobId)).size > 1 && !accepted.some(wasTakenBack(requests))) {
      throw new Error('R21: two requests of one key are told two jobs');
    }
    for (const { body, answer, place } of accepted) {
      const made = requests.find((_, at) => jobIdOf(at) === answer?.jobId);
      if (made?.body !== body) throw new Error(`R21: request ${place} is told the job of another body`);
      const { queued, withdrawn, completed } = made.job;
      if (!queued) throw new Error(`D25: request ${place} is told that a job is accepted that is not queued`);
      if (withdrawn && completed) throw new Error(`D25: request ${place} was told 200, and its job is taken back`);
    }
    for (const { answer, job, place } of group) {
      if (job.begun && !job.queued) throw new Error(`D25: the job of request ${place} has begun and is not queued`);
      if (answer === undefined || answer.status === 200 || answer.code === 'dispatch_undecided') continue;
      if (job.begun) throw new Error(`D25: request ${place} is answered ${answer.status} ${answer.code}, and sent`);
    }
  }
}

/**
 * The one thing that is not promised (infra/README.md, "Not there yet"): the answer of an accepted job could not be recorded
 * under its key, and its job had not begun 35 s later. The next request takes it back and is accepted in its place.
 */
function wasTakenBack(requests: readonly Request[]) {
  return ({ answer }: Request) => {
    const made = requests.find((_, at) => jobIdOf(at) === answer?.jobId);
    return made?.job.withdrawn && !made.job.completed;
  };
}

import type { JobState, JobStates } from '../job-state.ts';
import type { DispatchPorts } from './dispatch-ports.ts';

/** Somebody who is claiming a message, and will ask how its job stands unless the claim comes to nothing. */
export interface ExpectedAsker {
  /** The state, read after this call. Waits for others who are still claiming, so that one request serves them, until `byMs`. */
  stateOf(jobId: string, byMs: number): Promise<JobState>;
  /** Asks nothing any more; nothing after `stateOf`. */
  leave(): void;
}

/**
 * How the jobs of one batch stand, read strongly after the claims and before the calls (D46, D53): what was stopped before
 * the read is seen, and what is claimed goes its way. Messages that are claimed side by side share one request.
 */
export function gatheredJobStates(
  read: JobStates['of'],
  { nowMs, pause }: Pick<DispatchPorts, 'nowMs' | 'pause'>,
): { expect(): ExpectedAsker } {
  let expected = 0;
  let gathering: Gathering | undefined;

  const readNow = (gathered: Gathering | undefined) => {
    if (gathered === undefined || gathered !== gathering) return;
    gathering = undefined;
    read([...gathered.jobIds]).then(gathered.resolve, gathered.reject);
  };
  const gone = () => {
    expected -= 1;
    if (expected === 0) readNow(gathering);
  };

  return {
    expect: () => {
      expected += 1;
      let left = false;
      const leave = () => {
        if (left) return;
        left = true;
        gone();
      };
      return {
        leave,
        stateOf: async (jobId, byMs) => {
          const joined = gathering ?? newGathering();
          if (gathering === undefined) {
            gathering = joined;
            if (expected > 1) void pause(Math.max(0, byMs - nowMs())).then(() => readNow(joined));
          }
          joined.jobIds.add(jobId);
          leave();
          return (await joined.states).get(jobId) ?? {};
        },
      };
    },
  };
}

interface Gathering {
  readonly jobIds: Set<string>;
  readonly states: Promise<ReadonlyMap<string, JobState>>;
  readonly resolve: (states: ReadonlyMap<string, JobState>) => void;
  readonly reject: (error: unknown) => void;
}

function newGathering(): Gathering {
  const { promise, resolve, reject } = Promise.withResolvers<ReadonlyMap<string, JobState>>();
  return { jobIds: new Set(), states: promise, resolve, reject };
}

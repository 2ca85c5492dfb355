import type { QueuedChunk } from '../chunk.ts';
import { type ByJobState, byJobState, type Ending, type JobParked, type JobState } from '../job-state.ts';
import type { HeldBy } from './hold.ts';
import { type HoldableMessage, type HoldScope, parkScopeOf } from './scope.ts';

/*
 * What a hold makes of the jobs that it stops (D46). The hold alone decides whether a message is called. That a job is parked is
 * what its client and its report are told; a worker parks it that meets a hold, and its watcher resumes it once nothing holds it.
 */

/** Why a job waits, as it is told. */
export type ParkReason = Pick<JobParked, 'code' | 'scope'>;

const pausedTemplateCode = '132015';

/** What client and report are told of a hold with that code. */
export function reasonOf(scope: HoldScope, code: string): ParkReason {
  return { code: code === pausedTemplateCode ? 'template_paused' : code, scope: parkScopeOf(scope) };
}

/** What decides which holds concern the messages of a chunk. */
export function holdableOf({ category, path, phoneNumberId, about: { template } }: QueuedChunk): HoldableMessage {
  return { category, path, phoneNumberId, templateName: template.name, templateLanguage: template.language };
}

/** What a message is to do of which its job's state and the holds on it, the widest first, are known. */
export function byHolds(state: JobState, [widest]: readonly HeldBy[], message: Ending, nowMs: number): ByJobState {
  const { parked, ...unparked } = state;
  if (widest === undefined) return byJobState(unparked, message, nowMs);
  const waiting = parked ?? { ...reasonOf(widest.scope, widest.hold.code), sinceMs: nowMs };
  return byJobState({ ...state, parked: waiting }, message, nowMs);
}

import type { JobHolds } from '../job-holds.ts';
import type { PaceLearning } from '../pace/learned-pace.ts';
import type { Delivery, DispatchPorts } from './dispatch-ports.ts';
import type { ExpectedAsker } from './gathered-job-states.ts';
import type { MissedSlots } from './missed-slots.ts';

/** What the messages of one batch share, beside the ports. */
export interface BatchPorts extends DispatchPorts {
  readonly jobs: { expect(): ExpectedAsker };
  readonly learning: PaceLearning;
  readonly holds: JobHolds;
  readonly missed: MissedSlots;
}

/** One delivery, and the claimant that it is worked off as. */
export interface Attempt {
  readonly delivery: Delivery;
  readonly at: string;
}

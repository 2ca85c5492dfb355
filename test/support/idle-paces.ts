import type { DispatchPorts } from '../../lib/messages/dispatch/breaker.ts';
import { unknownBreaker } from '../../lib/messages/dispatch/breaker.ts';
import { unknownPace } from '../../lib/messages/pace/number-pace.ts';

/** Numbers for which nobody else ever reserves, jobs that nothing holds back, a platform that is there: for tests whose subject is none of them. */
export const idlePaces: Pick<
  DispatchPorts,
  'paces' | 'tenths' | 'jobStates' | 'straightJobs' | 'newHolds' | 'ready' | 'breakers' | 'probe'
> = {
  paces: {
    find: async () => unknownPace,
    change: async (_phoneNumberId, _seen, change) => change(unknownPace, 0),
  },
  tenths: { take: async () => [] },
  jobStates: { of: async () => new Map() },
  straightJobs: { begin: async () => 'begun' },
  breakers: { find: async () => unknownBreaker, change: async () => undefined },
  probe: async () => undefined,
  ready: async () => undefined,
  newHolds: () => ({ byRefusal: async () => undefined, taken: async () => undefined }),
};

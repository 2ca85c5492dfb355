import type { DispatchPorts } from '../../lib/messages/dispatch/dispatch-ports.ts';
import { unknownPace } from '../../lib/messages/pace/number-pace.ts';

/** Numbers for which nobody else ever reserves, and jobs that nothing holds back: for tests whose subject is neither. */
export const idlePaces: Pick<DispatchPorts, 'paces' | 'tenths' | 'jobStates' | 'newHolds'> = {
  paces: {
    find: async () => unknownPace,
    change: async (_phoneNumberId, _seen, change) => change(unknownPace, 0),
  },
  tenths: { take: async () => [] },
  jobStates: { of: async () => new Map() },
  newHolds: () => ({ byRefusal: async () => undefined }),
};

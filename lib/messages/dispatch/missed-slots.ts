import type { DispatchMessage } from '../job.ts';
import type { DispatchPorts } from './dispatch-ports.ts';
import { placeMessages } from './place-messages.ts';
import type { Placed } from './slots.ts';

/** Messages that miss their slots so close to each other are given new ones by one write. */
const gatherMs = 20;

export interface MissedSlots {
  /** Another place for a claimed message whose slot has passed. Never rejects. */
  placeAgain(message: DispatchMessage): Promise<Placed>;
}

/** For one batch: where claims are slow, most of its messages miss their slots, and at the same time. */
export function missedSlots(ports: Pick<DispatchPorts, 'paces' | 'tenths' | 'nowMs' | 'pause' | 'log'>): MissedSlots {
  let gathered: DispatchMessage[] = [];
  let placing: Promise<readonly Promise<Placed>[]> | undefined;

  const placeGathered = async () => {
    await ports.pause(gatherMs);
    placing = undefined;
    const messages = gathered;
    gathered = [];
    return placeMessages(messages, ports);
  };

  return {
    placeAgain: async (message) => {
      const position = gathered.push(message) - 1;
      placing ??= placeGathered();
      return (await (await placing)[position]) ?? { kind: 'unplaced', message };
    },
  };
}

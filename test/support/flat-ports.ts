import type {
  CalledPlatform,
  ChunkWorkerPorts,
  DispatchSnapshots,
  RunProcess,
} from '../../lib/messages/send/chunk-ports.ts';
import { noCosts } from './no-costs.ts';

type Whole = Pick<ChunkWorkerPorts, 'isOfSmallRequests' | 'slices' | 'unknowns' | 'people' | 'queue' | 'events'>;

/** The ports of a worker's run have no groups here, so that a test changes one by its name. */
export interface FlatPorts
  extends Whole,
    DispatchSnapshots,
    CalledPlatform,
    RunProcess,
    Readonly<Pick<ChunkWorkerPorts['numbers'], 'paces' | 'urgentCapacity'>>,
    Readonly<Pick<ChunkWorkerPorts['holds'], 'breakers'>> {
  /** No client asks for the answers to its messages when this is absent. */
  readonly noteSent?: ChunkWorkerPorts['noteSent'];
  /** Judging again finds nothing changed when this is absent. */
  readonly judgeAgain?: ChunkWorkerPorts['judgeAgain'];
  readonly newHolds: ChunkWorkerPorts['holds']['ofRun'];
}

export function grouped(flat: FlatPorts): ChunkWorkerPorts {
  const {
    isOfSmallRequests,
    slices,
    unknowns,
    people,
    queue,
    events,
    noteSent = async () => undefined,
    judgeAgain = async (chunk) => ({ kind: 'sendable', chunk: { ...chunk, composedMs: flat.nowMs() } }),
    ...others
  } = flat;
  const { look, beginStraight, paces, urgentCapacity, newHolds, breakers, ready, send, probe, ...process } = others;
  return {
    ...{
      isOfSmallRequests,
      slices,
      unknowns,
      people,
      queue,
      events,
      noteSent,
      judgeAgain,
      countEnded: noCosts.countEnded,
    },
    dispatches: { look, beginStraight },
    numbers: { paces, urgentCapacity },
    holds: { ofRun: newHolds, breakers },
    platform: { ready, send, probe },
    process,
  };
}

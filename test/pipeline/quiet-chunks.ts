import { seededRandom } from '../support/faults.ts';
import { makeJob } from '../support/send-jobs.ts';
import { ChunkWorld } from './chunk-world.ts';
import type { Fate } from './platform-model.ts';
import { limitPerSecond, workers } from './quiet-world.ts';

/** A world in which nothing goes wrong, with a region's times; delays of the queue end up to a second late. */
export function quietChunks({
  delayJitterMs = 1_000,
  fateOf = (): Fate => 'taken',
  ...size
}: {
  readonly delayJitterMs?: number;
  readonly fateOf?: () => Fate;
  readonly limitPerSecond?: number;
  readonly workers?: number;
  readonly answerMs?: () => number;
  readonly lifeMs?: (functionName: string) => number | undefined;
} = {}): ChunkWorld {
  const random = seededRandom(1);
  return new ChunkWorld({
    random,
    limitPerSecond,
    answerMs: () => 60 + random() * 60,
    latencyMs: () => 2 + random() * 2,
    faultOf: () => undefined,
    fateOf,
    lifeMs: () => undefined,
    receiptsOf: () => [],
    delayJitterMs,
    repeatShare: 0,
    clockSkewMs: () => 0,
    workers,
    ...size,
  });
}

let jobs = 0;

/** A job of so many recipients, no two alike, accepted now. */
export function acceptChunks(
  world: ChunkWorld,
  size: number,
  head: { clientId?: number; phoneNumberId?: string; urgent?: true } = {},
): string {
  jobs += 1;
  const jobId = `01JD${String(jobs).padStart(22, '0')}`;
  const recipients = Array.from({ length: size }, (_, at) => ({
    to: String(5_491_100_000_000 + jobs * 100_000 + at),
    params: { buttons: ['order'] },
  }));
  world.accept(makeJob(recipients, { jobId, clientId: 1_001, acceptedAtMs: world.time.nowMs, ...head }));
  return jobId;
}

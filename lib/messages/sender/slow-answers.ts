import type { LearningPace } from '../pace/learning-pace.ts';
import type { GuardedRun } from '../send/circuit-breaker-run.ts';

/** The platform usually answers sooner; a longer silence would block workers that codes need (D44). */
const awaitedAfterMs = 1_000;

/** Returns calls that note a slow answer at the number: other workers of small requests would wait too. */
export function notingSilence(
  send: GuardedRun['send'],
  { pause, learning }: { readonly pause: (ms: number) => Promise<void>; readonly learning: LearningPace },
): GuardedRun['send'] {
  return async (posting) => {
    let isOver = false;
    void pause(awaitedAfterMs).then(async () => {
      if (!isOver) await learning.awaited(posting);
    });
    try {
      return await send(posting);
    } finally {
      isOver = true;
    }
  };
}

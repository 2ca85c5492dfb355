import type { ParkedWatch } from '../../../lib/messages/rounds/watch-message.ts';
import { reportedAtMs, reportedIn, type World } from './held-jobs-space.ts';

/** Throws where a promise is broken by the step from one world to the next. */
export function checkPromises(world: World, before: World): void {
  checkSending(world, before);
  if (world.report === 'ended') checkEnd(world);
  checkNothingVanishes(world);
  checkWatching(world, before);
}

function checkSending({ job, sent }: World, before: World): void {
  if (job.begun && job.withdrawn) throw new Error('D25: a job is begun and taken back');
  if (sent > 1) throw new Error('R13: a message was sent twice');
  if (sent === before.sent) return;
  if (before.claimedLate) throw new Error('D53: sent although it was claimed after the stop');
  if (job.withdrawn) throw new Error('D25: a job that was taken back was sent');
  if (before.report === 'ended') throw new Error('D53: a report had said that it is not sent any more');
}

function checkEnd(world: World): void {
  const { claim, job } = world;
  const { state } = claim?.state === 'claimed' || claim === undefined ? (job.stop ?? {}) : claim;
  for (const atMs of reportedAtMs) {
    if (reportedIn(world, atMs).state !== state) throw new Error('D53: a message that had ended ends otherwise');
  }
  if (state === 'unknown') throw new Error('D53: a message that had ended is unknown');
}

function checkNothingVanishes({ job, claim, sent, fanOut, queue, runs }: World): void {
  const isUnderWay = fanOut !== 'over' || queue.length > 0 || runs.some(({ role }) => role === 'worker');
  const hasEnded = job.withdrawn || sent > 0 || (claim !== undefined && claim.state !== 'claimed');
  if (!isUnderWay && !hasEnded) throw new Error('R14: a message has vanished');
}

function checkWatching({ job, sent, watches, runs }: World, before: World): void {
  if (before.job.pausedFromMs !== undefined && job.pausedFromMs === undefined && job.stop === undefined && sent === 0) {
    throw new Error('D46: a pause ended, and nothing was taken');
  }
  const since = job.parked?.sinceMs;
  if (since === undefined) return;
  const watched = [...watches, ...runs.filter(({ role }) => role === 'watcher').map(({ body }) => body)];
  if (!watched.some((body) => (JSON.parse(body) as ParkedWatch).sinceMs === since)) {
    throw new Error('D46: a job is parked and nobody watches it');
  }
}

/** What has happened that a scenario is to meet. */
export function eventsBetween(before: World, after: World): string[] {
  const { job, claim, report, sent } = after;
  return [
    ...(job.parked === undefined ? [] : ['parked']),
    ...(before.job.parked !== undefined && job.parked === undefined && job.stop === undefined ? ['resumed'] : []),
    ...(before.job.pausedFromMs !== undefined && job.pausedFromMs === undefined && sent > 0 ? ['pauseEnded'] : []),
    ...(job.stop === undefined ? [] : ['stopped']),
    ...(sent > before.sent ? ['sent'] : []),
    ...(claim?.code === 'cancelled' ? ['cancelledInTime'] : []),
    ...(report === 'ended' ? ['ended'] : []),
  ];
}

import type { ParkedWatch } from '../../../lib/messages/watch/watch-message.ts';
import type { World } from './held-jobs-space.ts';

/** Throws when the step from one world to the next breaks a promise. */
export function checkPromises(world: World, before: World): void {
  const { job, wrong } = world;
  if (wrong !== null) throw new Error(wrong);
  if (job.begun && job.withdrawn) throw new Error('D25: a job is begun and taken back');
  if (before.job.stop !== undefined && job.stop?.code !== before.job.stop.code) {
    throw new Error('D53: a stop was followed by another one');
  }
  checkEndings(world, before);
  checkWatching(world, before);
}

/** An ended message stays ended, gets one event, and no message disappears before its end. */
function checkEndings(world: World, before: World): void {
  const { job, total, slice, taken, told, jobs, chunks, runs } = world;
  const isUnderWay = jobs.length + chunks.length > 0 || runs.some(({ role }) => role !== 'watcher');
  for (let index = 0; index < total; index += 1) {
    const outcome = slice?.outcomes[index];
    const known = before.slice?.outcomes[index];
    if (known !== undefined && known.state !== 'again' && known !== outcome) {
      throw new Error('R14: a message that had ended ends otherwise');
    }
    if (outcome?.state === 'sent' && !taken.includes(index)) throw new Error('R14: counts as sent, and was not taken');
    if (outcome?.state === 'failed' && taken.includes(index)) throw new Error('R14: counts as failed, and was taken');
    const events = told.filter((event) => event.startsWith(`J-${index} `));
    if (events.length > 1) throw new Error('D34: one ending was told as two');
    if (isUnderWay || job.withdrawn) continue;
    if (outcome === undefined || outcome.state === 'again') throw new Error('R14: a message has vanished');
    const type = outcome.state === 'sent' ? undefined : `J-${index} message.${outcome.state}`;
    if (events[0] !== type) throw new Error('D34: an ending was not told, or otherwise');
  }
}

function checkWatching({ job, taken, told, watches, runs }: World, before: World): void {
  const hasEnded = before.job.pausedFromMs !== undefined && job.pausedFromMs === undefined;
  if (hasEnded && job.stop === undefined && taken.length === 0) {
    throw new Error('D46: a pause ended, and nothing was taken');
  }
  const watched = [...watches, ...runs.filter(({ role }) => role === 'watcher').map(({ body }) => body)];
  const isOpen = (event: string) => event.endsWith('.parked') && !told.includes(event.replace('.parked', '.resumed'));
  if (watched.length === 0 && job.stop === undefined && told.some(isOpen)) {
    throw new Error('D46: no watcher is left to tell that the pause has ended');
  }
  const since = job.parked?.sinceMs;
  if (since === undefined) return;
  if (!watched.some((body) => (JSON.parse(body) as ParkedWatch).sinceMs === since)) {
    throw new Error('D46: a job is parked and not watched');
  }
}

/** Returns what happened between the worlds; a scenario must see some of it. */
export function eventsBetween(before: World, after: World): string[] {
  const { job, slice, taken, told } = after;
  const { progress, round } = job;
  const states = job.withdrawn ? [] : (slice?.outcomes.map((outcome) => outcome?.state) ?? []);
  return [
    ...(job.parked === undefined ? [] : ['parked']),
    ...((job.parked?.sinceMs ?? 0) > (job.pausedFromMs ?? Number.POSITIVE_INFINITY) ? ['parked again'] : []),
    ...(before.job.parked !== undefined && job.parked === undefined && job.stop === undefined ? ['resumed'] : []),
    ...(before.job.pausedFromMs !== undefined && job.pausedFromMs === undefined && taken.length > 0
      ? ['pauseEnded']
      : []),
    ...(job.stop === undefined ? [] : [`stopped ${job.stop.code}`]),
    ...(taken.length > before.taken.length ? ['taken'] : []),
    ...(slice?.owner === 'fan-out' ? ['ended by the fan-out'] : []),
    ...(slice !== null && slice.try > 0 ? ['tried again'] : []),
    ...(progress?.wave !== undefined && job.stop !== undefined ? ['stopped with a wave announced'] : []),
    ...((round?.round ?? 0) > 0 && (progress?.queued ?? 0) === 0 && round?.lease === undefined ? ['waited'] : []),
    ...told.flatMap((event) => (event.includes(' dispatch.') ? [event.slice(event.indexOf(' ') + 1)] : [])),
    ...(new Set(states).size > 1 ? ['ended apart'] : []),
    ...states.flatMap((state) => (state === undefined ? [] : [state])),
  ];
}

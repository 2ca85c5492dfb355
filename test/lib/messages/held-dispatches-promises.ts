import type { ParkedWatch } from '../../../lib/messages/watch/watch-message.ts';
import type { World } from './held-dispatches-space.ts';

/** Throws when the step from one world to the next breaks a promise. */
export function checkPromises(world: World, before: World): void {
  const { dispatch, wrong } = world;
  if (wrong !== null) throw new Error(wrong);
  if (before.dispatch.stop !== undefined && dispatch.stop?.code !== before.dispatch.stop.code) {
    throw new Error('D53: a stop was followed by another one');
  }
  checkEndings(world, before);
  checkWatching(world, before);
}

/** An ended message stays ended, gets one event, and no message disappears before its end. */
function checkEndings(world: World, before: World): void {
  const { total, slice, taken, told, dispatches, chunks, runs } = world;
  const isUnderWay = dispatches.length + chunks.length > 0 || runs.some(({ role }) => role !== 'watcher');
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
    if (isUnderWay) continue;
    if (outcome === undefined || outcome.state === 'again') throw new Error('R14: a message has vanished');
    const type = outcome.state === 'sent' ? undefined : `J-${index} message.${outcome.state}`;
    if (events[0] !== type) throw new Error('D34: an ending was not told, or otherwise');
  }
}

function checkWatching({ dispatch, taken, told, watches, runs }: World, before: World): void {
  const hasEnded = before.dispatch.pausedFromMs !== undefined && dispatch.pausedFromMs === undefined;
  if (hasEnded && dispatch.stop === undefined && taken.length === 0) {
    throw new Error('D46: a pause ended, and nothing was taken');
  }
  const watched = [...watches, ...runs.filter(({ role }) => role === 'watcher').map(({ body }) => body)];
  const isOpen = (event: string) => event.endsWith('.parked') && !told.includes(event.replace('.parked', '.resumed'));
  if (watched.length === 0 && dispatch.stop === undefined && told.some(isOpen)) {
    throw new Error('D46: no watcher is left to tell that the pause has ended');
  }
  const since = dispatch.parked?.sinceMs;
  if (since === undefined) return;
  if (!watched.some((body) => (JSON.parse(body) as ParkedWatch).sinceMs === since)) {
    throw new Error('D46: a dispatch is parked and not watched');
  }
}

/** Returns what happened between the worlds; a scenario must see some of it. */
export function eventsBetween(before: World, after: World): string[] {
  const { dispatch, slice, taken, told } = after;
  const { queued, wave, round } = dispatch;
  const states = slice?.outcomes.map((outcome) => outcome?.state) ?? [];
  return [
    ...(dispatch.parked === undefined ? [] : ['parked']),
    ...((dispatch.parked?.sinceMs ?? 0) > (dispatch.pausedFromMs ?? Number.POSITIVE_INFINITY) ? ['parked again'] : []),
    ...(before.dispatch.parked !== undefined && dispatch.parked === undefined && dispatch.stop === undefined
      ? ['resumed']
      : []),
    ...(before.dispatch.pausedFromMs !== undefined && dispatch.pausedFromMs === undefined && taken.length > 0
      ? ['pauseEnded']
      : []),
    ...(dispatch.stop === undefined ? [] : [`stopped ${dispatch.stop.code}`]),
    ...(taken.length > before.taken.length ? ['taken'] : []),
    ...(slice?.owner === 'fan-out' ? ['ended by the fan-out'] : []),
    ...(slice !== null && slice.try > 0 ? ['tried again'] : []),
    ...(wave !== undefined && dispatch.stop !== undefined ? ['stopped with a wave announced'] : []),
    ...((round?.round ?? 0) > 0 && (queued ?? 0) === 0 && round?.lease === undefined ? ['waited'] : []),
    ...told.flatMap((event) => (event.includes(' dispatch.') ? [event.slice(event.indexOf(' ') + 1)] : [])),
    ...(new Set(states).size > 1 ? ['ended apart'] : []),
    ...states.flatMap((state) => (state === undefined ? [] : [state])),
  ];
}

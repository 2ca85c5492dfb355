import { longestParkMs } from '../../../../lib/messages/dispatch/item-state.ts';
import type { Hold } from '../../../../lib/messages/holds/hold.ts';
import { type DispatchId, nameOf, openIn } from './holds-model.ts';
import { longestUnprovenMs, type World } from './holds-space.ts';

/** The time since which a dispatch is parked decides how rarely its watcher looks. */
function ageOf(ms: number): number {
  return (
    Math.min(6, Math.floor(ms / 15_000)) + [longestUnprovenMs, longestParkMs].filter((limitMs) => ms >= limitMs).length
  );
}

/**
 * Worlds with one key have the same future, to a tenth of a second: names become numbers, and times become differences.
 */
export function keyOf(world: World): string {
  const names = new Map<number, number>();
  const named = (ms: number) => names.get(ms) ?? names.set(ms, names.size).size - 1;
  const {
    nowMs,
    holds,
    dispatches,
    expiresAtMs,
    watches,
    runs,
    messages,
    words,
    told,
    begun: _begun,
    wrong: _wrong,
    breakable: _fixed,
    ...others
  } = world;
  const from = (ms: number | undefined) => (ms === undefined ? null : Math.max(0, Math.round((ms - nowMs) / 100)));
  const holdKey = ([scope, hold]: readonly [string, Hold]) => [
    ...[scope, named(hold.sinceMs), hold.code, hold.asks, from(hold.nextAskMs), from(hold.askedUntilMs)],
    ...[hold.afterTaken, hold.takenMs !== undefined],
  ];
  const since = (id: DispatchId) => {
    const { parked, pausedFromMs, stop } = dispatches[id];
    return [parked && named(parked.sinceMs), pausedFromMs && named(pausedFromMs), stop?.state, from(expiresAtMs[id])];
  };
  return JSON.stringify([
    openIn(holds).sort().map(holdKey),
    Object.entries(holds.silences).map(([number, { runs: silent }]) => [number, silent]),
    [since('A'), since('B')],
    watches
      .map(({ dispatch, sinceMs, dueMs, toldMs }) => [
        dispatch,
        named(sinceMs),
        from(dueMs),
        toldMs && named(toldMs),
        ageOf(nowMs - sinceMs),
      ])
      .sort(),
    runs.map(({ number: _, startedMs, question, saw, calledAtMs, parkMs, ...run }) => [
      run,
      question && [from(question.untilMs), question.of.map(({ scope, sinceMs, ask }) => [scope, named(sinceMs), ask])],
      saw.map((name) => openIn(holds).some(([scope, { sinceMs }]) => nameOf(scope, sinceMs) === name)),
      Math.round((nowMs - startedMs) / 10_000),
      calledAtMs && Math.round((nowMs - calledAtMs) / 10_000),
      parkMs && named(parkMs),
    ]),
    messages.map(({ id, dueMs, taken, outcome }) => [id, outcome ? 0 : from(dueMs), taken, outcome]),
    words.map(({ scope, sinceMs }) => [scope, named(sinceMs)]),
    told.map((event) => event.replace(/\d+$/, (ms) => String(named(Number(ms))))),
    others,
  ]);
}

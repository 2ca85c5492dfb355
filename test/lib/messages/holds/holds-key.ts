import { type Hold, longestUnprovenMs } from '../../../../lib/messages/holds/hold.ts';
import { type DispatchId, nameOf, openIn } from './holds-model.ts';
import type { World } from './holds-space.ts';

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
    runs,
    messages,
    words,
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
  const since = (id: DispatchId) => [dispatches[id].stop?.state, from(expiresAtMs[id])];
  return JSON.stringify([
    openIn(holds).sort().map(holdKey),
    Object.entries(holds.unproven ?? {}).map(([scope, end]) => [
      scope,
      end?.asks,
      from(end && end.atMs + longestUnprovenMs),
    ]),
    Object.entries(holds.silences).map(([number, { runs: silent }]) => [number, silent]),
    [since('A'), since('B')],
    runs.map(({ number: _, startedMs, question, saw, calledAtMs, ...run }) => [
      run,
      question && [from(question.untilMs), question.of.map(({ scope, sinceMs, ask }) => [scope, named(sinceMs), ask])],
      saw.map((name) => openIn(holds).some(([scope, { sinceMs }]) => nameOf(scope, sinceMs) === name)),
      Math.round((nowMs - startedMs) / 10_000),
      calledAtMs && Math.round((nowMs - calledAtMs) / 10_000),
    ]),
    messages.map(({ id, dueMs, taken, outcome }) => [id, outcome ? 0 : from(dueMs), taken, outcome]),
    words.map(({ scope, sinceMs }) => [scope, named(sinceMs)]),
    others,
  ]);
}

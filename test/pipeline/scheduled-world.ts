import type { DispatchHead } from '../../lib/messages/dispatch/head.ts';
import { keptAfterLastCallMs } from '../../lib/messages/dispatch/items.ts';
import type { Lot, Opening } from '../../lib/messages/dispatch/lots.ts';
import type { WholeDispatch } from '../../lib/messages/dispatch/whole-dispatch.ts';
import { seededRandom } from '../support/faults.ts';
import { makeDispatch, makeRecipients } from '../support/made-dispatches.ts';
import { amongOf, holdBack, randomRules } from './random-world.ts';
import { PipelineWorld, startMs } from './world.ts';

/** Returns a dispatch of so many recipients, in the order of its lots, as acceptance would compute them. */
export function scheduledDispatch(size: number, lots: readonly Lot[], head: Partial<DispatchHead>): WholeDispatch {
  const openings = lots.flatMap(({ open }) => open[0]?.[0] ?? []);
  const fromMs = openings.length === 0 ? startMs : Math.min(...openings);
  const lastMs = Math.max(...lots.map(({ open }) => open.at(-1)?.[1] ?? 0));
  const when = { asked: { window: '09:00-20:00' }, fromMs };
  const dispatch = makeDispatch(makeRecipients(size), { ...head, when, keptUntilMs: lastMs + keptAfterLastCallMs });
  return { ...dispatch, lots };
}

/**
 * Makes the world of a seed in which any fault may happen, with dispatches that open and close while their messages are
 * under way.
 */
export function scheduledWorld(seed: number): PipelineWorld {
  const random = seededRandom(seed);
  const among = amongOf(random);
  const world = new PipelineWorld(randomRules(random));
  const dispatches = among([1, 1, 2, 3]);
  for (let at = 0; at < dispatches; at += 1) {
    const dispatchId = `01JE${String(at).padStart(22, '0')}`;
    const { nowMs } = world.time;
    const size = among([1, 3, 12, 12, 40, 40, 75, 260]);
    const lots = lotsOf(size, nowMs, random);
    const ttl = random() < 0.15 ? { expiresAtMs: nowMs + 60_000 + random() * 3_600_000 } : {};
    world.accept(
      scheduledDispatch(size, lots, { dispatchId, clientId: among([1001, 1002]), acceptedAtMs: nowMs, ...ttl }),
    );
    holdBack(world, dispatchId, random);
  }
  return world;
}

/** Returns one to four lots. A slice may be in two, and sometimes a lot never opens. */
function lotsOf(size: number, nowMs: number, random: () => number): Lot[] {
  const count = Math.min(size, 1 + Math.floor(random() * 4));
  const untils = Array.from({ length: count - 1 }, () => 1 + Math.floor(random() * (size - 1)));
  return [...new Set([...untils, size])]
    .sort((one, other) => one - other)
    .map((until) => ({ until, open: random() < 0.05 ? [] : openingsFrom(nowMs, random) }));
}

/** Returns short and long openings, hours apart at most. The last is long enough for the rest. */
function openingsFrom(nowMs: number, random: () => number): Opening[] {
  const openings: Opening[] = [];
  let atMs = nowMs + Math.floor(random() < 0.5 ? 0 : random() * 1_800_000);
  const count = 1 + Math.floor(random() * 4);
  for (let each = 0; each < count; each += 1) {
    const isLast = each === count - 1;
    const lengthMs = isLast && random() < 0.8 ? 7_200_000 : 300 + random() * (random() < 0.5 ? 10_000 : 120_000);
    openings.push([atMs, Math.floor(atMs + lengthMs)]);
    atMs = Math.floor(atMs + lengthMs + 500 + random() * (random() < 0.3 ? 5_000 : 5_400_000));
  }
  return openings;
}

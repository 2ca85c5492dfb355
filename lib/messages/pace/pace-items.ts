import * as v from 'valibot';
import type { Item } from '../../aws/dynamodb-batch.ts';
import type { NumberPace } from './number-pace.ts';
import type { Schedule } from './schedule.ts';
import type { Segment } from './segments.ts';

/*
 * The schedule is one compact text: lane names are in a table, and a segment is its start, its spacing and three
 * numbers per lane.
 */

const ScheduleSchema = v.object({
  next: v.number(),
  lanes: v.array(v.tuple([v.number(), v.string()])),
  segments: v.array(v.array(v.number())),
  turns: v.array(v.number()),
  fronts: v.optional(v.array(v.tuple([v.number(), v.number()]))),
});

const PaceItemSchema = v.object({
  version: v.number(),
  schedule: v.pipe(v.string(), v.parseJson(), ScheduleSchema),
  learned: v.optional(v.object({ perSecond: v.number(), atMs: v.number() })),
  capped: v.optional(v.object({ perSecond: v.number(), untilMs: v.number() })),
  pairs: v.optional(v.record(v.string(), v.number())),
  slowUntilMs: v.optional(v.number()),
});

export function paceOf(item: unknown): NumberPace {
  const { version, schedule, learned, capped, pairs = {}, slowUntilMs } = v.parse(PaceItemSchema, item);
  const blocked = Object.entries(pairs).map(([recipientHash, untilMs]) => ({ recipientHash, untilMs }));
  return {
    version,
    schedule: scheduleOf(schedule),
    learned,
    capped,
    slowUntilMs,
    // A map has no order, so the oldest entries are those that end first.
    pairs: blocked.toSorted((one, other) => one.untilMs - other.untilMs),
  };
}

/** Returns the item without key, version and writer (aws/versioned-item.ts). */
export function paceItemOf({ schedule, learned, capped, pairs, slowUntilMs }: NumberPace): Item {
  return {
    schedule: JSON.stringify(packed(schedule)),
    learned,
    capped,
    slowUntilMs,
    ...(pairs.length === 0
      ? {}
      : { pairs: Object.fromEntries(pairs.map(({ recipientHash, untilMs }) => [recipientHash, untilMs])) }),
  };
}

function packed({ segments, nextPosition, fronts }: Schedule): v.InferOutput<typeof ScheduleSchema> {
  const indexes = new Map<string, number>();
  const lanes: [number, string][] = [];
  const indexOf = (clientId: number, lane: string) => {
    const name = `${clientId}#${lane}`;
    const known = indexes.get(name);
    if (known !== undefined) return known;
    indexes.set(name, lanes.length);
    return lanes.push([clientId, lane]) - 1;
  };
  const rows = segments.map(({ fromMs, everyMs, lanes: own }) => [
    fromMs,
    everyMs,
    ...own.flatMap(({ clientId, lane, first, count }) => [indexOf(clientId, lane), first, count]),
  ]);
  return {
    next: nextPosition,
    lanes,
    segments: rows,
    turns: segments.map(({ turn }) => turn),
    fronts: fronts?.map(({ clientId, untilMs }): [number, number] => [clientId, untilMs]),
  };
}

function scheduleOf({ next, lanes, segments, turns, fronts }: v.InferOutput<typeof ScheduleSchema>): Schedule {
  const segmentOf = ([fromMs = 0, everyMs = 0, ...numbers]: readonly number[], index: number): Segment => ({
    fromMs,
    everyMs,
    turn: turns[index] ?? 1,
    lanes: Array.from({ length: numbers.length / 3 }, (_, at) => {
      const [index = 0, first = 0, count = 0] = numbers.slice(3 * at, 3 * at + 3);
      const [clientId, lane] = lanes[index] ?? [0, ''];
      return { clientId, lane, first, count };
    }),
  });
  return {
    segments: segments.map(segmentOf),
    nextPosition: next,
    fronts: fronts?.map(([clientId, untilMs]) => ({ clientId, untilMs })),
  };
}

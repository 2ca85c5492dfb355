import type { BacklogEntry, ParkedEntry, PartProgress } from '../dispatch/backlog.ts';

/** The senders of a number each take every `of`-th slice of a dispatch. `part` counts from 0. */
export interface SenderPart {
  readonly part: number;
  readonly of: number;
}

/** Returns the entry to store; the same object for no change. */
export type EntryRule = (entry: BacklogEntry) => BacklogEntry;

/** Returns whether the slice is the part's. Small dispatches begin at different parts, so that all senders work. */
export function isOfPart({ part, of }: SenderPart, dispatchId: string, slice: number): boolean {
  return of === 1 || (slice + hashOf(dispatchId)) % of === part;
}

/** Returns the part that a dispatch of one slice is of. */
export function partOf(dispatchId: string, of: number): number {
  return hashOf(dispatchId) % of;
}

function hashOf(dispatchId: string): number {
  let hash = 0;
  for (const letter of dispatchId) hash = (Math.imul(hash, 31) + letter.charCodeAt(0)) >>> 0;
  return hash;
}

/** Returns whether the part has slices of the dispatch at all. */
export function hasSlices(part: SenderPart, { dispatchId, slices }: Pick<BacklogEntry, 'dispatchId' | 'slices'>) {
  return Array.from({ length: Math.min(part.of, slices) }).some((_, slice) => isOfPart(part, dispatchId, slice));
}

/**
 * Returns a part's progress: one without slices is done. After a change of their number, each part begins again from the
 * least floor.
 */
export function progressOf(entry: BacklogEntry, { part, of }: SenderPart): PartProgress {
  const { parts, notBeforeMs, slices } = entry;
  const own = parts?.length === of ? parts[part] : undefined;
  if (own !== undefined) return own;
  if (!hasSlices({ part, of }, entry)) return { floor: slices, dueMs: doneMs };
  if (parts === undefined) return { floor: 0, dueMs: notBeforeMs };
  return { floor: floorOf({ parts }), dueMs: Math.min(...parts.map(({ dueMs }) => dueMs)) };
}

/** All slices below have ended and are told, whatever the number of parts. */
export function floorOf({ parts = [] }: Pick<BacklogEntry, 'parts'>): number {
  return parts.length === 0 ? 0 : Math.min(...parts.map(({ floor }) => floor));
}

/** A part that has ended and is told is never due. */
export const doneMs = Number.MAX_SAFE_INTEGER;

const isDone = ({ dueMs }: PartProgress) => dueMs === doneMs;

/** The part has nothing left to do. Once that is true of all of them, each may end the dispatch. */
export function isPartDone(entry: BacklogEntry, part: SenderPart): boolean {
  return isDone(progressOf(entry, part)) && !partsOf(entry, part).every(isDone);
}

function partsOf(entry: BacklogEntry, { of }: Pick<SenderPart, 'of'>): readonly PartProgress[] {
  return Array.from({ length: of }, (_, part) => progressOf(entry, { part, of }));
}

/** Returns when something is to be done for a part, or to end the dispatch. */
export function dueMsOfPart(entry: BacklogEntry, part: SenderPart): number {
  return entry.parts?.every(isDone) === true ? entry.notBeforeMs : progressOf(entry, part).dueMs;
}

/** Returns when something of the dispatch is to be done by whichever part. */
export function dueMsOfEntry({ parts = [], notBeforeMs }: BacklogEntry): number {
  const open = parts.filter((part) => !isDone(part));
  return open.length === 0 ? notBeforeMs : Math.min(...open.map(({ dueMs }) => dueMs));
}

export interface PartMoved {
  readonly part: SenderPart;
  readonly progress: PartProgress;
  /** The sender has read the dispatch after these news. */
  readonly seenNewsMs: number | undefined;
  readonly parked?: ParkedEntry | undefined;
}

/** Moves a part. A floor never goes back, and unseen news stay due. */
export function partMoved({ part: { part, of }, progress, seenNewsMs, parked }: PartMoved): EntryRule {
  return (entry) => {
    const before = partsOf(entry, { of });
    const isNews = entry.newsMs !== undefined && entry.newsMs !== seenNewsMs;
    const parts = before.map((known, at) =>
      at === part
        ? {
            ...progress,
            floor: Math.max(known.floor, progress.floor),
            dueMs: isNews ? Math.min(known.dueMs, progress.dueMs) : progress.dueMs,
          }
        : known,
    );
    return { ...entry, parts, parked: isNews ? undefined : parked };
  };
}

/** Something was written to the dispatch: all of its senders read it again, now. */
export function withNews(nowMs: number): EntryRule {
  return (entry) => ({
    ...entry,
    newsMs: nowMs,
    parked: undefined,
    notBeforeMs: Math.min(entry.notBeforeMs, nowMs),
    ...(entry.parts && { parts: entry.parts.map((part) => ({ ...part, dueMs: Math.min(part.dueMs, nowMs) })) }),
  });
}

const minuteMs = 60_000;
const longestPoisonMs = 15 * minuteMs;

/** Returns when a dispatch that a run could do nothing with is tried again: after 1, 2, 4 ... 15 minutes. */
export function poisonedUntilMs(failures: number, nowMs: number): number {
  return nowMs + Math.min(longestPoisonMs, minuteMs * 2 ** (failures - 1));
}

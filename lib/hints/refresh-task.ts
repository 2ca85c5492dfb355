export interface RefreshTask {
  readonly templateIds: readonly string[];
  readonly numbers: boolean;
  readonly everything: boolean;
}

export const noTask: RefreshTask = { templateIds: [], numbers: false, everything: false };

/** Above this number the whole list is cheaper: 100 templates a call. */
const maxSingleReads = 5;

export function isEmptyTask({ templateIds, numbers, everything }: RefreshTask): boolean {
  return templateIds.length === 0 && !numbers && !everything;
}

/** Ids beyond these are left to the whole list, so that the stored task stays small. */
const mostTemplateIds = 100;

/** Joins two tasks. Ids stay beside a whole reading, which may have to wait for calls. */
export function mergedTasks(one: RefreshTask, other: RefreshTask): RefreshTask {
  const templateIds = [...new Set([...one.templateIds, ...other.templateIds])];
  const everything = one.everything || other.everything || templateIds.length > mostTemplateIds;
  return { templateIds: templateIds.slice(0, mostTemplateIds), numbers: one.numbers || other.numbers, everything };
}

/** Returns the task as a turn reads it with enough calls: the whole list covers single templates. */
export function asWhole(task: RefreshTask): RefreshTask {
  const { everything, templateIds } = task;
  return everything || templateIds.length > maxSingleReads ? { ...task, templateIds: [], everything: true } : task;
}

export interface PartedTask {
  readonly now: RefreshTask;
  readonly later: RefreshTask;
}

export interface Means {
  readonly calls: number;
  readonly mayList: boolean;
}

/**
 * Returns what a turn with these means reads: all of it, else single templates, which go before numbers and listings
 * (D42). Returns undefined when even that is too much.
 */
export function partedTask(task: RefreshTask, { calls, mayList }: Means): PartedTask | undefined {
  const whole = asWhole(task);
  if (callsReservedFor(whole) <= calls && (mayList || !whole.everything)) return { now: whole, later: noTask };
  const singles = task.templateIds.slice(0, Math.max(0, Math.floor(calls / callsOfId)));
  if (singles.length === 0) return undefined;
  const later = { ...task, templateIds: task.templateIds.slice(singles.length) };
  return { now: { ...noTask, templateIds: singles }, later };
}

/** A template by its id may take a second call, in the WABA's list. */
export const callsOfId = 2;
/** Pages have 100 numbers. */
const callsForNumbers = 5;
/** Pages have 100 templates, with retries for one that is too large. Unused calls are returned. */
const callsForList = 20;

/** Returns the calls reserved for the task, which it never exceeds. */
export function callsReservedFor({ templateIds, numbers, everything }: RefreshTask): number {
  return templateIds.length * callsOfId + (numbers ? callsForNumbers : 0) + (everything ? callsForList : 0);
}

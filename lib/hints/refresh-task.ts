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

/** Joins two tasks, without ids that a whole reading covers. */
export function mergedTasks(one: RefreshTask, other: RefreshTask): RefreshTask {
  const everything = one.everything || other.everything;
  const templateIds = everything ? [] : [...new Set([...one.templateIds, ...other.templateIds])];
  return readWhole({ templateIds, numbers: one.numbers || other.numbers, everything });
}

function readWhole(task: RefreshTask): RefreshTask {
  return task.templateIds.length > maxSingleReads ? { ...task, templateIds: [], everything: true } : task;
}

/** A template by its id may take a second call, in the WABA's list. */
const callsOfId = 2;
/** Pages have 100 numbers. */
const callsForNumbers = 5;
/** Pages have 100 templates, with retries for one that is too large. Unused calls are returned. */
const callsForList = 20;

/** Returns the calls reserved for the task, which it never exceeds. */
export function callsReservedFor({ templateIds, numbers, everything }: RefreshTask): number {
  return templateIds.length * callsOfId + (numbers ? callsForNumbers : 0) + (everything ? callsForList : 0);
}

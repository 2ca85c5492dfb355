/** What of a WABA has to be read again. */
export interface Task {
  /** The platform's, each once. */
  readonly templateIds: readonly string[];
  /** Quality, limit and throughput of its numbers. */
  readonly numbers: boolean;
  /** All templates: which of them changed could not be told. */
  readonly everything: boolean;
}

export const nothing: Task = { templateIds: [], numbers: false, everything: false };

/** More than these are read by going through the whole list: one call for 100 templates. */
const maxSingleReads = 5;

export function isNothing({ templateIds, numbers, everything }: Task): boolean {
  return templateIds.length === 0 && !numbers && !everything;
}

/** Both together; ids that a whole reading covers are dropped. */
export function together(one: Task, other: Task): Task {
  const everything = one.everything || other.everything;
  const templateIds = everything ? [] : [...new Set([...one.templateIds, ...other.templateIds])];
  return readWhole({ templateIds, numbers: one.numbers || other.numbers, everything });
}

/** Too many single templates are all of them. */
function readWhole(task: Task): Task {
  return task.templateIds.length > maxSingleReads ? { ...task, templateIds: [], everything: true } : task;
}

/** A template by its id may take a second call, in the WABA's list. */
const callsOfId = 2;
/** Pages of 100 numbers. */
const callsForNumbers = 5;
/** Pages of 100 templates, and what it takes to read one that is too large. What is left over is given back. */
const callsForList = 20;

/** The platform calls that are put aside before the task is begun: it takes no more. */
export function callsFor({ templateIds, numbers, everything }: Task): number {
  return templateIds.length * callsOfId + (numbers ? callsForNumbers : 0) + (everything ? callsForList : 0);
}

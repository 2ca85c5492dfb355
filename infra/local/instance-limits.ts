import { resourceName } from '../names.ts';
import type { LocalFunction } from './local-template.ts';

/** Processes of one function at a time. Few, because a laptop has few cores. They start one by one, when all others are at work. */
export const usualInstances = 4;

/**
 * Workers that hand messages to the platform spend most of a run asleep, until the milliseconds in which theirs may leave
 * (D43). So many take a gigabyte of memory.
 */
const dispatchingInstances = 10;

/** How many processes of a function the stack of the given stage runs at most, by the function's logical id. */
export function instanceLimitsOf(functions: Readonly<Record<string, LocalFunction>>, stage: string) {
  const dispatching = resourceName(stage, 'messages-dispatch');
  return (functionId: string): number =>
    functions[functionId]?.name === dispatching ? dispatchingInstances : usualInstances;
}

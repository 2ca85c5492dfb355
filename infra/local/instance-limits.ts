import { resourceName } from '../names.ts';
import type { LocalFunction } from './local-template.ts';

/** The number is small, because a laptop has few cores. A process starts only when all others are busy. */
export const usualInstances = 4;

/**
 * Dispatch workers sleep for most of a run, until the milliseconds in which their messages may leave (D43). Ten of them
 * take a gigabyte of memory.
 */
const dispatchingInstances = 10;

export function instanceLimitsOf(functions: Readonly<Record<string, LocalFunction>>, stage: string) {
  const dispatching = resourceName(stage, 'messages-dispatch');
  return (functionId: string): number =>
    functions[functionId]?.name === dispatching ? dispatchingInstances : usualInstances;
}

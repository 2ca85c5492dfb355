import { inject } from 'vitest';

declare module 'vitest' {
  export interface ProvidedContext {
    thorough: boolean;
  }
}

/**
 * `npm run test:all` and a run by name explore everything; `npm test` and the second engine take a part of each
 * exploration.
 */
export const thorough: boolean = inject('thorough');

/** Returns all cases in a thorough run, only the first in other runs. */
export function firstUnlessThorough<T>(all: readonly T[]): readonly T[] {
  return thorough ? all : all.slice(0, 1);
}

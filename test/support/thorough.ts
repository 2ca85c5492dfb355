import { inject } from 'vitest';

declare module 'vitest' {
  export interface ProvidedContext {
    thorough: boolean;
  }
}

/**
 * Whether this run explores everything: true in `npm run test:all` and in a run by name. False in `npm test` and on the
 * second engine, which take a part of each exploration.
 */
export const thorough: boolean = inject('thorough');

/** All cases in a thorough run, the first `count` in other runs. */
export function firstUnlessThorough<T>(all: readonly T[]): readonly T[] {
  return thorough ? all : all.slice(0, 1);
}

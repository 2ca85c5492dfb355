import { inject } from 'vitest';

declare module 'vitest' {
  export interface ProvidedContext {
    thorough: boolean;
  }
}

/**
 * Whether this run explores everything: `npm run test:all` and a run by name do. `npm test` takes a part of the same
 * explorations, and so does the second engine everywhere, for which measurements of how often it is called say nothing.
 */
export const thorough: boolean = inject('thorough');

/** All of them where everything is explored, the first of them elsewhere. */
export function firstUnlessThorough<T>(all: readonly T[]): readonly T[] {
  return thorough ? all : all.slice(0, 1);
}

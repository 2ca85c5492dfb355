import { inject } from 'vitest';

declare module 'vitest' {
  export interface ProvidedContext {
    thorough: boolean;
  }
}

/**
 * Whether this project explores everything. One engine does; the other one takes a part of the same explorations, and
 * none of the measurements of how often we call it, for those say nothing about the engine.
 */
export const thorough: boolean = inject('thorough');

/** All of them where everything is explored, the first of them elsewhere. */
export function firstUnlessThorough<T>(all: readonly T[]): readonly T[] {
  return thorough ? all : all.slice(0, 1);
}

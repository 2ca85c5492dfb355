import { seededRandom } from '../../support/faults.ts';

/** The same seed gives the same choices, in the order of the calls. */
export interface Chance {
  /** Returns a whole number between the bounds, both included. */
  between(least: number, most: number): number;
  /** Returns undefined when there are no choices. */
  oneOf<T>(choices: readonly T[]): T | undefined;
}

export function chanceOf(seed: number): Chance {
  const random = seededRandom(seed);
  return {
    between: (least, most) => least + Math.floor(random() * (most - least + 1)),
    oneOf: (choices) => choices[Math.floor(random() * choices.length)],
  };
}

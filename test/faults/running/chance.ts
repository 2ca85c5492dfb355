import { seededRandom } from '../../support/faults.ts';

/** Chance that can be had again: the same seed gives the same choices, in the order in which they are asked for. */
export interface Chance {
  /** A whole number, both ends included. */
  between(least: number, most: number): number;
  /** One of them; undefined when there is none. */
  oneOf<T>(choices: readonly T[]): T | undefined;
}

export function chanceOf(seed: number): Chance {
  const random = seededRandom(seed);
  return {
    between: (least, most) => least + Math.floor(random() * (most - least + 1)),
    oneOf: (choices) => choices[Math.floor(random() * choices.length)],
  };
}

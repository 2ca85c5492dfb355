/** Its keys are optional for all that may be undefined. */
export type OmitUndefined<T extends object> = {
  [K in keyof T as undefined extends T[K] ? never : K]: T[K];
} & {
  [K in keyof T as undefined extends T[K] ? K : never]?: Exclude<T[K], undefined>;
};

/**
 * Returns the facts that are there, for records whose keys are read, compared or merged, such as headers. Null, false,
 * 0 and empty texts stay.
 */
export function omitUndefined<T extends object>(facts: T): OmitUndefined<T> {
  return Object.fromEntries(Object.entries(facts).filter(([, value]) => value !== undefined)) as OmitUndefined<T>;
}

/** The same object type with each key that may be undefined made optional instead. */
export type Present<T extends object> = {
  [K in keyof T as undefined extends T[K] ? never : K]: T[K];
} & {
  [K in keyof T as undefined extends T[K] ? K : never]?: Exclude<T[K], undefined>;
};

/**
 * The object without the keys whose value is undefined: under `exactOptionalPropertyTypes` an optional field is absent,
 * never there and undefined. Null, false, 0 and empty texts stay.
 */
export function present<T extends object>(facts: T): Present<T> {
  return Object.fromEntries(Object.entries(facts).filter(([, value]) => value !== undefined)) as Present<T>;
}

/** The object type with optional keys for all that may be undefined. */
export type Present<T extends object> = {
  [K in keyof T as undefined extends T[K] ? never : K]: T[K];
} & {
  [K in keyof T as undefined extends T[K] ? K : never]?: Exclude<T[K], undefined>;
};

/**
 * The object without undefined values: `exactOptionalPropertyTypes` wants optional fields absent. Null, false, 0 and
 * empty texts stay.
 */
export function present<T extends object>(facts: T): Present<T> {
  return Object.fromEntries(Object.entries(facts).filter(([, value]) => value !== undefined)) as Present<T>;
}

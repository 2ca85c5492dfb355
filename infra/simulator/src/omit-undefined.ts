type Possible<T extends object> = {
  [K in keyof T as undefined extends T[K] ? never : K]: T[K];
} & {
  [K in keyof T as undefined extends T[K] ? K : never]?: Exclude<T[K], undefined>;
};

/** A node of the platform leaves out what it has no value for; null, false, 0 and empty texts stay. */
export function omitUndefined<T extends object>(fields: T): Possible<T> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Possible<T>;
}

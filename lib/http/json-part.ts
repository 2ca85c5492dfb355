/** A JSON object of which nothing is known yet. */
export type Part = Readonly<Record<string, unknown>>;

export function isPart(value: unknown): value is Part {
  return value !== null && typeof value === 'object' && !Array.isArray(value);
}

/** Enums are written in upper case upstream; clients may write them as they like. */
export function enumOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value.toUpperCase() : undefined;
}

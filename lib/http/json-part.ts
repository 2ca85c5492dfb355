export type Part = Readonly<Record<string, unknown>>;

export function isPart(value: unknown): value is Part {
  return value !== null && typeof value === 'object' && !Array.isArray(value);
}

/** The platform spells enums in upper case; clients may use any letter case. */
export function enumOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value.toUpperCase() : undefined;
}

/** Spells our names as documents do for programs: `clientId` becomes `client_id`. */
export function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** Returns the object with its names spelled so; values stay as they are. */
export function inSnakeCase<T>(object: Readonly<Record<string, T>>): Record<string, T> {
  return Object.fromEntries(Object.entries(object).map(([name, value]) => [snakeCase(name), value]));
}

/**
 * The first key in a JSON value, at any level, that could change what holds it when the value is copied: `__proto__`, or
 * `constructor` with a `prototype`. Those that middy's JSON parser refuses. How deep a value nests is bounded before (D6).
 */
export function forbiddenKeyIn(value: unknown): string | undefined {
  if (Array.isArray(value)) {
    for (const item of value) {
      const found = forbiddenKeyIn(item);
      if (found !== undefined) return found;
    }
    return undefined;
  }
  if (!isObject(value)) return undefined;
  for (const key in value) {
    if (!Object.hasOwn(value, key)) continue;
    const inner = value[key];
    if (key === '__proto__' || (key === 'constructor' && isObject(inner) && Object.hasOwn(inner, 'prototype'))) {
      return key;
    }
    const found = forbiddenKeyIn(inner);
    if (found !== undefined) return found;
  }
  return undefined;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return value !== null && typeof value === 'object';
}

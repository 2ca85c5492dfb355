/**
 * Returns the first key at any level that could change its holder when copied: `__proto__`, or `constructor` with a
 * `prototype`. middy's JSON parser refuses the same. Does not recurse.
 */
export function forbiddenKeyIn(value: unknown): string | undefined {
  const left = isObject(value) ? [value] : [];
  for (let next = left.pop(); next !== undefined; next = left.pop()) {
    if (Array.isArray(next)) {
      for (const item of next) if (isObject(item)) left.push(item);
      continue;
    }
    for (const key in next) {
      if (!Object.hasOwn(next, key)) continue;
      const inner = next[key];
      if (key === '__proto__' || (key === 'constructor' && isObject(inner) && Object.hasOwn(inner, 'prototype'))) {
        return key;
      }
      if (isObject(inner)) left.push(inner);
    }
  }
  return undefined;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return value !== null && typeof value === 'object';
}

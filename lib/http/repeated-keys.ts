import type { Fault } from './refusal.ts';

interface Level {
  /** A list has none. */
  readonly keys: Set<string> | undefined;
  readonly path: string;
  at: string;
}

/**
 * Returns keys that occur twice in one object. `JSON.parse` silently keeps the last: a first list of users would be
 * lost, and its users removed. The text must be JSON.
 */
export function repeatedKeys(json: string): Fault[] {
  const faults: Fault[] = [];
  const levels: Level[] = [];
  for (const [token] of json.matchAll(/"(?:[^"\\]|\\.)*"(?:\s*:)?|[{}[\],]/g)) {
    const level = levels.at(-1);
    if (token === '{' || token === '[') {
      const path = level === undefined ? '' : `${level.path}${level.at}`;
      levels.push({ keys: token === '{' ? new Set() : undefined, path, at: token === '{' ? '' : '[0]' });
    } else if (token === '}' || token === ']') {
      levels.pop();
    } else if (token === ',') {
      if (level?.keys === undefined && level !== undefined) level.at = `[${Number(level.at.slice(1, -1)) + 1}]`;
    } else if (token.endsWith(':') && level?.keys !== undefined) {
      const key: string = JSON.parse(token.slice(0, -1));
      level.at = level.path === '' ? key : `.${key}`;
      if (level.keys.has(key)) faults.push({ path: `${level.path}${level.at}`, message: 'the key is there twice' });
      level.keys.add(key);
    }
  }
  return faults;
}

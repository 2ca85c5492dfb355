import { readdirSync } from 'node:fs';

/** Returns the operations with a function: the files in functions/ are the API. */
export function builtOperations(): string[] {
  return readdirSync(new URL('../../functions/', import.meta.url))
    .filter((name) => name.endsWith('.ts'))
    .map((name) => name.slice(0, -'.ts'.length));
}

import { readdirSync } from 'node:fs';

/** The operations whose function exists: the folder listing of functions/ is the API. */
export function builtOperations(): string[] {
  return readdirSync(new URL('../../functions/', import.meta.url))
    .filter((name) => name.endsWith('.ts'))
    .map((name) => name.slice(0, -'.ts'.length));
}

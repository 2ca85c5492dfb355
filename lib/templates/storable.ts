import { type Fault, invalid } from '../http/refusal.ts';
import { packTemplate } from './fact.ts';
import type { PlatformTemplate } from './template.ts';

/** Levels of objects and lists in a whole request body, the body itself among them (D6). */
const maxLevels = 32;
/** An item of DynamoDB takes 400 KB; the rest is for what the platform adds. */
const maxPackedBytes = 300_000;

/**
 * The top-level fields of a body that are nested too deep: whoever compares, hashes or writes such a value goes down level
 * by level and may run out of stack. Told here without going down by recursion, before anything else looks at the body.
 */
export function nestingFaults(body: unknown): Fault[] {
  if (body === null || typeof body !== 'object') return [];
  return Object.entries(body)
    .filter(([, value]) => hasMoreLevels(value, maxLevels - 1))
    .map(([path]) => ({ path, message: `${path}: at most ${maxLevels} levels of nesting, received more` }));
}

function hasMoreLevels(value: unknown, levels: number): boolean {
  let level = [value].filter(isContainer);
  for (let depth = 1; level.length > 0; depth += 1) {
    if (depth > levels) return true;
    level = level.flatMap((container) => Object.values(container).filter(isContainer));
  }
  return false;
}

function isContainer(value: unknown): value is object {
  return value !== null && typeof value === 'object';
}

/** Refuses with 400 a template that could not be stored here once the platform has it (D18). */
export function refuseUnstorable(template: Readonly<Record<string, unknown>>): void {
  const bytes = packTemplate(template as PlatformTemplate).byteLength;
  if (bytes <= maxPackedBytes) return;
  const sizeOf = (key: string) => JSON.stringify(template[key] ?? null).length;
  const path = sizeOf('optimization_spec') > sizeOf('components') ? 'optimization_spec' : 'components';
  throw invalid(path, `${path}: a template takes at most ${maxPackedBytes} bytes when compressed, received ${bytes}`);
}

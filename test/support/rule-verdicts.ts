import { parseChange, checkComponents as platformCheck } from '#simulator/contract';
import { FaultList } from '../../lib/http/fault-list.ts';
import { checkComponents } from '../../lib/templates/rules/components.ts';
import type { Category, CheckedValue, TemplateDraft } from '../../lib/templates/rules/draft.ts';
import { upstreamComponents } from '../../lib/templates/rules/upstream-components.ts';

export type Given = Readonly<Record<string, unknown>>;

export interface Verdicts {
  readonly service: boolean;
  readonly simulator: boolean;
}

export const both = (taken: boolean): Verdicts => ({ service: taken, simulator: taken });

/** Tells whether a rule that throws accepts it. */
export function passes(ask: () => unknown): boolean {
  try {
    ask();
    return true;
  } catch {
    return false;
  }
}

/** Tells whether a rule that collects faults finds none. */
export function isFaultless(check: (root: CheckedValue) => void): boolean {
  const faults = new FaultList();
  check({ path: '', faults });
  return faults.count === 0;
}

/** A handle contains the format of its upload. */
const fileTypes: Readonly<Record<string, string>> = {
  IMAGE: 'image/png',
  VIDEO: 'video/mp4',
  GIF: 'video/mp4',
  DOCUMENT: 'application/pdf',
};

/**
 * Returns both verdicts on the components of a creation. The simulator gets accepted components in the form that the
 * service sends, and refused ones as they came.
 */
export function verdictsOn(category: Category, components: readonly Given[]): Verdicts {
  const draft: TemplateDraft = { category, components, fileAttached: false };
  const service = isFaultless((root) => checkComponents(draft, root));
  const sent = service ? upstreamComponents(draft) : components;
  const mediumOf = (handle: string) => {
    const fileType = fileTypes[handle];
    return fileType === undefined ? undefined : { fileType, bytes: 1_000 };
  };
  const simulator = passes(() =>
    platformCheck({ category, named: false, mediumOf }, parseChange({ components: sent }).components ?? []),
  );
  return { service, simulator };
}

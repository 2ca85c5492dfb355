import { parsedJson } from './openapi.ts';
import type { Tried } from './reference-history.ts';

export interface NamedDispatch {
  readonly did: string;
  readonly dispatchId: string;
}

const mostNamed = 5;

/** Returns at most five dispatches, from the header `Dispatch-Id`, the path, or entries of the body. */
export function dispatchesOf({ answer, filled }: Tried): readonly NamedDispatch[] {
  const did = filled.values['path did'] ?? '';
  const found = [
    { did, dispatchId: answer.headers['dispatch-id'] ?? '' },
    ...(answer.status < 300 ? [{ did, dispatchId: filled.values['path dispatchId'] ?? '' }] : []),
    ...namedIn(parsedJson(answer.body), did),
  ].filter((each) => each.did !== '' && each.dispatchId !== '');
  return [...new Map(found.map((each) => [each.dispatchId, each])).values()].slice(0, mostNamed);
}

function namedIn(value: unknown, did: string): readonly NamedDispatch[] {
  if (typeof value !== 'object' || value === null) return [];
  const entry = value as { readonly dispatch_id?: unknown; readonly did?: unknown };
  const own =
    typeof entry.dispatch_id === 'string'
      ? [{ did: typeof entry.did === 'string' ? entry.did : did, dispatchId: entry.dispatch_id }]
      : [];
  return [...own, ...Object.values(value).flatMap((inside) => namedIn(inside, did))];
}

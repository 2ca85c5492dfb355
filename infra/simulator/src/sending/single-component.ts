import { graphError } from '../errors.ts';

/** Returns the component of a type; two of them are refused with code 100. */
export function singleComponent<P extends { readonly type: string }>(
  parts: readonly P[],
  type: P['type'],
): P | undefined {
  const [first, second] = parts.filter((part) => part.type === type);
  if (second !== undefined) throw graphError(100, `(#100) Param template['components'] has two of type ${type}.`);
  return first;
}

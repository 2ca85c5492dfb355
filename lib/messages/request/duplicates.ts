import type { Recipient, Repeat } from '../job.ts';
import { canonicalAddress } from './recipient-address.ts';

const maxNamed = 20;

/** Drops recipients that repeat an earlier `to` with the same `params` (D25); returns the repeats too. */
export function withoutDuplicates(recipients: readonly Recipient[]): {
  readonly kept: Recipient[];
  readonly repeats: Repeat[];
} {
  const firstPlaces = new Map<string, number>();
  const kept: Recipient[] = [];
  const repeats: Repeat[] = [];
  for (const [position, recipient] of recipients.entries()) {
    const identity = identityOf(recipient);
    const first = firstPlaces.get(identity);
    if (first !== undefined) {
      repeats.push([position, first]);
      continue;
    }
    firstPlaces.set(identity, position);
    kept.push(recipient);
  }
  return { kept, repeats };
}

/** Parsing has ordered the fields. An empty list equals an absent one. */
function identityOf(recipient: Recipient): string {
  const params = JSON.stringify(recipient.params ?? {}, (_key, value: unknown) =>
    Array.isArray(value) && value.length === 0 ? undefined : value,
  );
  return `${canonicalAddress(recipient.to)} ${params}`;
}

/** Returns the sentence of `warning` about dropped recipients, if any. */
export function duplicatesWarning(droppedIndexes: readonly number[]): string | undefined {
  if (droppedIndexes.length === 0) return undefined;
  const named = droppedIndexes.slice(0, maxNamed).map((index) => `recipients[${index}]`);
  const more = droppedIndexes.length - named.length;
  return `duplicate recipients were dropped: ${named.join(', ')}${more === 0 ? '' : ` and ${more} more`}`;
}

import { canonicalNumber, spellingOf } from '../../opt-outs/canonical-number.ts';
import type { Recipient, Repeat } from '../dispatch/head.ts';

const maxNamed = 20;

/**
 * Drops recipients that repeat an earlier person with the same `params`, in whatever spelling (D25); returns the
 * repeats too.
 */
export function withoutDuplicates(recipients: readonly Recipient[]): {
  readonly kept: Recipient[];
  readonly repeats: Repeat[];
} {
  const people = recipients.map(({ to }) => canonicalNumber(to));
  const repeated = repeatedAmong(people);
  const firstPlaces = new Map<string, number>();
  const kept: Recipient[] = [];
  const repeats: Repeat[] = [];
  for (const [position, recipient] of recipients.entries()) {
    const person = people[position] ?? '';
    if (!repeated.has(person)) {
      kept.push(recipient);
      continue;
    }
    const identity = identityOf(person, recipient);
    const first = firstPlaces.get(identity);
    if (first !== undefined) {
      const { to } = recipient;
      repeats.push(to === recipients[first]?.to ? [position, first] : [position, first, spellingOf(to)]);
      continue;
    }
    firstPlaces.set(identity, position);
    kept.push(recipient);
  }
  return { kept, repeats };
}

function repeatedAmong(people: readonly string[]): ReadonlySet<string> {
  const seen = new Set<string>();
  return new Set(people.filter((person) => seen.size === seen.add(person).size));
}

/** Parsing has ordered the fields. An empty list equals an absent one. */
function identityOf(person: string, recipient: Recipient): string {
  const params = JSON.stringify(recipient.params ?? {}, (_key, value: unknown) =>
    Array.isArray(value) && value.length === 0 ? undefined : value,
  );
  return `${person} ${params}`;
}

/** Returns the sentence of `warning` about dropped recipients, if any. */
export function duplicatesWarning(droppedIndexes: readonly number[]): string | undefined {
  if (droppedIndexes.length === 0) return undefined;
  const named = droppedIndexes.slice(0, maxNamed).map((index) => `recipients[${index}]`);
  const more = droppedIndexes.length - named.length;
  return `duplicate recipients were dropped: ${named.join(', ')}${more === 0 ? '' : ` and ${more} more`}`;
}

/** Returns the sentence of `warning` about people who get several messages with other `params` (D25), if any. */
export function repeatedWarning(kept: readonly Pick<Recipient, 'to'>[]): string | undefined {
  const again = kept.length - new Set(kept.map(({ to }) => canonicalNumber(to))).size;
  return again === 0 ? undefined : `messages beside another one to the same person, with other params: ${again}`;
}

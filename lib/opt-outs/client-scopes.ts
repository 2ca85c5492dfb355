import type { Directory } from '../access/directory.ts';
import type { PersonOptOuts } from './person.ts';
import { type ShownScopeText, textOf } from './scope.ts';

interface NumberOfWaba {
  readonly clientId: number;
  readonly wabaId: string;
  readonly phoneNumberId: string;
}

export interface ClientScopePorts {
  readonly directory: Pick<Directory, 'listWabas'>;
  readonly channels: {
    /** Reads the channels of a WABA's numbers; an entry may be stale. */
    numbersOf(wabaId: string): Promise<readonly (Omit<NumberOfWaba, 'wabaId'> & { readonly waId: string })[]>;
    /** Returns the existing channels among these, which are authoritative. */
    find(
      channels: readonly { readonly clientId: number; readonly waId: string }[],
    ): Promise<readonly (NumberOfWaba & { readonly deleted: boolean })[]>;
  };
}

/**
 * Returns the scopes that concern the client's messages: its own, its WABAs, and its usable numbers (D5). It reads
 * WABAs and numbers only if an entry names such a scope.
 */
export async function clientScopes(
  clientId: number,
  people: Iterable<PersonOptOuts>,
  { directory, channels }: ClientScopePorts,
): Promise<ReadonlySet<ShownScopeText>> {
  const named = new Set([...people].flatMap(({ entries }) => Object.keys(entries)));
  const names = (kind: 'number' | 'waba') => [...named].some((text) => text.startsWith(`${kind}:`));
  const scopes = new Set([textOf({ kind: 'client', clientId })]);
  if (!names('waba') && !names('number')) return scopes;
  const wabas = await directory.listWabas(clientId);
  for (const { wabaId } of wabas) scopes.add(textOf({ kind: 'waba', wabaId }));
  if (!names('number')) return scopes;
  const numbers = await Promise.all(
    wabas.map(async ({ wabaId, dids }) => {
      const usable = (await channels.numbersOf(wabaId)).filter(
        (each) => named.has(`number:${each.phoneNumberId}`) && (dids === 'waba' || each.clientId === clientId),
      );
      return (await channels.find(usable)).filter((each) => each.wabaId === wabaId && !each.deleted);
    }),
  );
  for (const { wabaId, phoneNumberId } of numbers.flat()) scopes.add(textOf({ kind: 'number', wabaId, phoneNumberId }));
  return scopes;
}

import type { Directory } from '../access/directory.ts';
import type { PersonOptOuts } from './person.ts';
import { kindOf, type ScopeText, textOf } from './scope.ts';

/** A number of a WABA, and whose channel it is. */
interface NumberOfWaba {
  readonly clientId: number;
  readonly wabaId: string;
  readonly phoneNumberId: string;
}

/** Where a client may send from. */
export interface ClientScopePorts {
  readonly directory: Pick<Directory, 'listWabas'>;
  readonly channels: {
    /** Which channels the numbers of a WABA are; an entry may be out of date. */
    numbersOf(wabaId: string): Promise<readonly (Omit<NumberOfWaba, 'wabaId'> & { readonly waId: string })[]>;
    /** Those of them that there are: the channel has the last word. */
    find(
      channels: readonly { readonly clientId: number; readonly waId: string }[],
    ): Promise<readonly (NumberOfWaba & { readonly deleted: boolean })[]>;
  };
}

/**
 * The scopes, of all in which something was said of these people, that concern messages of the client: its own, its WABAs, and the
 * numbers that it may use (D5). Reads nothing where only clients have said something, and numbers only where one is named.
 */
export async function clientScopes(
  clientId: number,
  people: Iterable<PersonOptOuts>,
  { directory, channels }: ClientScopePorts,
): Promise<ReadonlySet<ScopeText>> {
  const named = new Set([...people].flatMap(({ entries }) => Object.keys(entries) as ScopeText[]));
  const kinds = new Set([...named].map(kindOf));
  const scopes = new Set([textOf({ kind: 'client', clientId })]);
  if (!kinds.has('waba') && !kinds.has('number')) return scopes;
  const wabas = await directory.listWabas(clientId);
  for (const { wabaId } of wabas) scopes.add(textOf({ kind: 'waba', wabaId }));
  if (!kinds.has('number')) return scopes;
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

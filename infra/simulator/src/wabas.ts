import type { Product } from './catalogs/products.ts';
import type { NodeFields } from './fields.ts';
import type { Placed } from './paging.ts';

export interface Waba {
  readonly id: string;
  /** Only control calls change it. */
  fields: NodeFields;
  readonly numbers: readonly PhoneNumber[];
  readonly catalogs: readonly Catalog[];
}

/** Returns the owner of the WABA. All its numbers know a person by the same user id. */
export function ownerOf({ fields }: Waba): { readonly id: string; readonly name?: string } | undefined {
  return fields['owner_business_info'] as { readonly id: string; readonly name?: string } | undefined;
}

export function portfolioIdOf(waba: Waba): string {
  return ownerOf(waba)?.id ?? waba.id;
}

/** Returns the WABAs of a portfolio; empty for an unknown portfolio. */
export function wabasOf(wabas: ReadonlyMap<string, Waba>, portfolioId: string): readonly Waba[] {
  return [...wabas.values()].filter((waba) => portfolioIdOf(waba) === portfolioId);
}

export interface PhoneNumber extends Placed {
  readonly id: string;
  readonly wabaId: string;
  readonly digits: string;
  /** Only control calls change it. */
  fields: NodeFields;
}

/**
 * Returns 1,000 at level HIGH, 20 when the business app uses the number too, otherwise 80 (platform reference, 4.4).
 */
export function messagesPerSecond({ fields }: PhoneNumber): number {
  if (fields['is_on_biz_app'] === true) return 20;
  return (fields['throughput'] as { readonly level?: unknown } | undefined)?.level === 'HIGH' ? 1_000 : 80;
}

export interface Catalog extends Placed {
  readonly id: string;
  readonly wabaId: string;
  readonly products: readonly Product[];
  readonly fields: NodeFields;
}

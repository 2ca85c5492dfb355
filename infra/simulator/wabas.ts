import type { Product } from './catalogs/products.ts';
import type { NodeFields } from './fields.ts';
import type { Placed } from './paging.ts';

export interface Waba {
  readonly id: string;
  /** Changed by the control interface alone. */
  fields: NodeFields;
  readonly numbers: readonly PhoneNumber[];
  readonly catalogs: readonly Catalog[];
}

export interface PhoneNumber extends Placed {
  readonly id: string;
  readonly wabaId: string;
  /** The digits of the displayed number. */
  readonly digits: string;
  readonly messagesPerSecond: number;
  /** Changed by the control interface alone. */
  fields: NodeFields;
}

export interface Catalog extends Placed {
  readonly id: string;
  readonly wabaId: string;
  readonly products: readonly Product[];
  readonly fields: NodeFields;
}

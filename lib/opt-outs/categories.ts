export interface OptOutCategory {
  readonly category: string;
  readonly clientId: number;
  /** UTILITY messages of these clients of the WABA heed opt-outs as well. */
  readonly utilityStops?: readonly number[];
}

/**
 * Tells whether opt-outs count for this category (D55): always for MARKETING, on the client's wish for UTILITY, never
 * for others.
 */
export function heedsOptOuts({ category, clientId, utilityStops = [] }: OptOutCategory): boolean {
  return category === 'MARKETING' || (category === 'UTILITY' && utilityStops.includes(clientId));
}

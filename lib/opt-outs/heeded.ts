/** Whose messages ask for opt-outs before they leave. */
export interface Heeding {
  readonly category: string;
  readonly clientId: number;
  /** The clients of the WABA whose UTILITY messages heed opt-outs as well. */
  readonly utilityStops?: readonly number[];
}

/** Whether opt-outs count for messages of that category (D55): MARKETING always, UTILITY where the client wants it, others never. */
export function heedsOptOuts({ category, clientId, utilityStops = [] }: Heeding): boolean {
  return category === 'MARKETING' || (category === 'UTILITY' && utilityStops.includes(clientId));
}

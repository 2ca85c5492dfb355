import type { Outcome, Outcomes, Settlements, Slice, SliceClaim } from './slice.ts';

/** The slices of jobs as a worker sees them. Every write may be repeated by its author; all throw when the store cannot be reached. */
export interface Slices {
  /** Claims a try. `claimed` also when the claim that is there is this one: the SDK repeated a write whose reply was lost. */
  claim(claim: SliceClaim): Promise<{ readonly kind: 'claimed' | 'met'; readonly slice: Slice }>;
  /** Ends the claimant's own try, as it was claimed. Undefined when another has ended it, or claimed the next; else what is there. */
  end(own: Slice, outcomes: Outcomes): Promise<Slice | undefined>;
  /** The same of a try that its author has not called anybody in, whether its claim was written or not. */
  endUncalled(claim: SliceClaim, outcomes: Outcomes): Promise<Slice | undefined>;
  /** Ends the try of a dead claimant, as `owner`; `unknown` unless told otherwise. Undefined when the slice is not as it was seen. */
  endForTheDead(seen: Slice, owner: string, outcome?: Outcome): Promise<Slice | undefined>;
  /** Settles outcomes that are `unknown`. Undefined when the slice is not as it was seen, or is settled already. */
  settle(seen: Slice, settlements: Settlements, atMs: number): Promise<Slice | undefined>;
}

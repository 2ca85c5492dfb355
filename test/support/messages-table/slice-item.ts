import {
  claimed,
  ended,
  endedForTheDead,
  isOwn,
  mayClaim,
  type Slice,
  settled,
} from '../../../lib/messages/dispatch/slice.ts';
import type { Slices } from '../../../lib/messages/dispatch/slice-store.ts';
import type { WritesOf } from './written.ts';

/** A slice is written under the conditions of slice.ts and slice-store.ts (slice-store.adapter.test.ts). */
export const sliceWrites: WritesOf<Slice, Omit<Slices, 'find'>> = {
  claim: (existing, claim) => {
    if (mayClaim(existing, claim)) {
      const slice = claimed(existing, claim);
      return { item: slice, value: { kind: 'claimed', slice } };
    }
    if (existing === undefined) throw new Error('the slice of a later try is not there');
    const isMine = isOwn(existing, claim) && existing.state === 'claimed';
    return { item: existing, value: { kind: isMine ? 'claimed' : 'met', slice: existing } };
  },

  end: (existing, own, outcomes, calls) => {
    if (!isOwn(existing, own)) return { item: existing, value: undefined };
    return existing.state === 'ended' ? same(existing) : same(ended(existing, outcomes, calls));
  },

  endUncalled: (existing, claim, outcomes) => {
    if (isOwn(existing, claim) && existing.state === 'ended') return same(existing);
    if (!isOwn(existing, claim) && !mayClaim(existing, claim)) return { item: existing, value: undefined };
    return same(ended(claimed(existing, claim), outcomes));
  },

  endForTheDead: (existing, seen, owner, outcome) => {
    const isAsSeen = existing?.version === seen.version;
    return isAsSeen ? same(endedForTheDead(seen, owner, outcome)) : { item: existing, value: undefined };
  },

  settle: (existing, seen, settlements, atMs) => {
    const next = existing?.version === seen.version ? settled(seen, settlements, atMs) : undefined;
    return next === undefined ? { item: existing, value: undefined } : same(next);
  },
};

function same(slice: Slice) {
  return { item: slice, value: slice };
}

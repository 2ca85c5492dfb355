import type { SliceDoubts } from '../../lib/messages/chunks/chunk-ports.ts';
import {
  claimed,
  ended,
  endedForTheDead,
  isOwn,
  mayClaim,
  type Slice,
  type SliceKey,
  settled,
  sliceSize,
  withdrawn,
} from '../../lib/messages/slices/slice.ts';
import type { Slices } from '../../lib/messages/slices/slices.ts';
import type { Run } from './runs.ts';

/** The slices of the messages table, for any number of runs: what slice-store.ts does on DynamoDB. */
export class MemorySlices {
  readonly slices = new Map<string, Slice>();

  ofRun(run: Pick<Run, 'call'>): Slices {
    const replace = (seen: Slice | undefined, next: Slice): { written?: Slice; existing?: Slice | undefined } => {
      const existing = this.#at(next.key);
      if (existing?.version !== seen?.version) return { existing };
      this.#put(next);
      return { written: next };
    };
    return {
      claim: (claim) =>
        run.call('claimSlice', () => {
          const existing = this.#at(claim.key);
          if (existing === undefined && claim.try > 0) throw new Error('the slice of a later try is not there');
          if (mayClaim(existing, claim)) {
            const slice = claimed(existing, claim);
            this.#put(slice);
            return { kind: 'claimed', slice };
          }
          const isMine = isOwn(existing, claim) && existing.state === 'claimed';
          return { kind: isMine ? 'claimed' : 'met', slice: existing as Slice };
        }),
      end: (own, outcomes) =>
        run.call('endSlice', () => {
          const { written, existing } = replace(own, ended(own, outcomes));
          if (written !== undefined) return written;
          if (!isOwn(existing, own)) return undefined;
          return existing.state === 'ended' ? existing : replace(existing, ended(existing, outcomes)).written;
        }),
      endUncalled: async (claim, outcomes) => {
        const existing = await run.call('findSlice', () => this.#at(claim.key));
        if (isOwn(existing, claim) && existing.state === 'ended') return existing;
        if (!isOwn(existing, claim) && !mayClaim(existing, claim)) return undefined;
        return await run.call('endSlice', () => {
          const { written } = replace(existing, ended(claimed(existing, claim), outcomes));
          if (written === undefined) throw new Error('the slice has changed meanwhile');
          return written;
        });
      },
      endForTheDead: (seen, ...how) => run.call('endSlice', () => replace(seen, endedForTheDead(seen, ...how)).written),
      settle: (seen, settlements, atMs) =>
        run.call('endSlice', () => {
          const next = settled(seen, settlements, atMs);
          return next === undefined ? undefined : replace(seen, next).written;
        }),
    };
  }

  /** Takes back the first slice of a job, unless a worker has it; true when it could. */
  withdraw(jobId: string): boolean {
    const slice = withdrawn({ key: { jobId, slice: 0 }, atMs: 0, size: sliceSize });
    const existing = this.#at(slice.key);
    if (existing !== undefined && existing.owner !== slice.owner) return false;
    this.#put(slice);
    return true;
  }

  /** Strongly consistent. */
  find(key: SliceKey): Slice | undefined {
    return this.#at(key);
  }

  #put(slice: Slice): void {
    this.slices.set(nameOf(slice.key), slice);
  }

  #at(key: SliceKey): Slice | undefined {
    return this.slices.get(nameOf(key));
  }
}

function nameOf({ jobId, slice }: SliceKey): string {
  return `${jobId} ${slice}`;
}

/** Doubts and receipts of jobs. */
export class MemoryDoubts {
  readonly doubtful = new Set<string>();
  /** Indexes of messages of which there are receipts, by job. */
  readonly receipts = new Map<string, Set<number>>();

  ofRun(run: Run): SliceDoubts {
    return {
      mark: ({ jobId }) => run.call('mark', () => void this.doubtful.add(jobId)),
      proven: ({ jobId, slice }) =>
        run.call('hasReceipt', () => {
          const indexes = [...(this.receipts.get(jobId) ?? [])];
          return new Set(indexes.filter((index) => Math.floor(index / 10) === slice).map((index) => index % 10));
        }),
    };
  }
}

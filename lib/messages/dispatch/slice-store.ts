import { GetCommand, PutCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { conditionalWrite } from '../../aws/conditional-write.ts';
import { queryPages, type SortKeys } from '../../aws/dynamodb-batch.ts';
import type { Table } from '../../aws/table.ts';
import { dispatchExpiresAtSeconds } from './items.ts';
import {
  claimed,
  ended,
  endedForTheDead,
  isOwn,
  mayClaim,
  type Outcome,
  type Outcomes,
  type Settlements,
  type Slice,
  type SliceClaim,
  type SliceKey,
  settled,
} from './slice.ts';
import {
  sliceItemOf,
  sliceKeyOf,
  sliceOfItem,
  sliceOfSortKey,
  slicePartition,
  slicePartitionsBetween,
} from './slice-items.ts';

/** Each write may be repeated by its author. Every method rejects when the store cannot be reached. */
export interface Slices {
  /**
   * Claims a try. It is `claimed` too when the stored claim is this one: the SDK repeated a write whose reply was lost.
   */
  claim(claim: SliceClaim): Promise<{ readonly kind: 'claimed' | 'met'; readonly slice: Slice }>;
  /**
   * Ends the claimant's own try, and adds its calls to the platform to those of earlier tries. Returns the stored
   * slice, or undefined when another run has ended it or claimed the next try.
   */
  end(own: Slice, outcomes: Outcomes, calls?: number): Promise<Slice | undefined>;
  /** Ends a try without any call, whether its claim was written or not. */
  endUncalled(claim: SliceClaim, outcomes: Outcomes): Promise<Slice | undefined>;
  /** Ends the try of a dead claimant as `owner`, `unknown` by default. Returns undefined when the slice has changed. */
  endForTheDead(seen: Slice, owner: string, outcome?: Outcome): Promise<Slice | undefined>;
  /** Settles `unknown` outcomes. Returns undefined when the slice has changed, or nothing is unknown. */
  settle(seen: Slice, settlements: Settlements, atMs: number): Promise<Slice | undefined>;
  /** Reads strongly. */
  find(key: SliceKey): Promise<Slice | undefined>;
}

/** Operators have these writes (report/resolve-unknown.ts). */
export type SettledSlices = Pick<Slices, 'endForTheDead' | 'settle'>;

type Written =
  | { readonly written: Slice; readonly existing?: never }
  | { readonly written?: never; readonly existing: Slice | undefined };

/** Makes one write for a claim, one for its end, each under an optimistic lock. No condition depends on TTL (R24). */
export function sliceStore(table: Pick<Table, 'client' | 'name' | 'nowMs'>): Slices {
  const { client, nowMs } = table;
  // Expiry counts from the last write, because a try may come long after acceptance, or as long as the dispatch (D56).
  const expiresAtSeconds = (slice: Slice) => dispatchExpiresAtSeconds({ ...slice, acceptedAtMs: nowMs() });

  async function find(key: SliceKey): Promise<Slice | undefined> {
    const { Item } = await client.send(
      new GetCommand({ TableName: table.name, Key: sliceKeyOf(key), ConsistentRead: true }),
    );
    return Item === undefined ? undefined : sliceOfItem(key, Item);
  }

  /** Writes the slice if the stored version is `seen`; else returns the stored one. */
  async function replace(seen: Slice | undefined, next: Slice): Promise<Written> {
    const write = await conditionalWrite(
      client.send(
        new PutCommand({
          TableName: table.name,
          Item: { ...sliceKeyOf(next.key), ...sliceItemOf(next), expiresAtSeconds: expiresAtSeconds(next) },
          ...(seen === undefined
            ? { ConditionExpression: 'attribute_not_exists(pk)' }
            : { ConditionExpression: 'version = :seen', ExpressionAttributeValues: { ':seen': seen.version } }),
          ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
        }),
      ),
    );
    if (write.written) return { written: next };
    return { existing: write.existing === undefined ? undefined : sliceOfItem(next.key, write.existing) };
  }

  return {
    find,

    claim: async (claim) => {
      const write = claim.try === 0 ? replace(undefined, claimed(undefined, claim)) : laterClaim(claim);
      const { written, existing } = await write;
      if (written !== undefined) return { kind: 'claimed', slice: written };
      if (existing === undefined) throw new Error('the slice of a later try is not there');
      const isMine = isOwn(existing, claim) && existing.state === 'claimed';
      return { kind: isMine ? 'claimed' : 'met', slice: existing };
    },

    end: async (own, outcomes, calls) => {
      let claim = own;
      for (;;) {
        const { written, existing } = await replace(claim, ended(claim, outcomes, calls));
        if (written !== undefined) return written;
        if (!isOwn(existing, own)) return undefined;
        if (existing.state === 'ended') return existing;
        // An outcome of an earlier try was settled meanwhile.
        claim = existing;
      }
    },

    endUncalled: async (claim, outcomes) => {
      const existing = await find(claim.key);
      if (isOwn(existing, claim) && existing.state === 'ended') return existing;
      if (!isOwn(existing, claim) && !mayClaim(existing, claim)) return undefined;
      const next = ended(claimed(existing, claim), outcomes);
      const { written } = await replace(existing, next);
      // A claim of this run may have landed in between.
      if (written === undefined) throw new Error('the slice has changed meanwhile');
      return written;
    },

    endForTheDead: async (seen, owner, outcome) => (await replace(seen, endedForTheDead(seen, owner, outcome))).written,

    settle: async (seen, settlements, atMs) => {
      const next = settled(seen, settlements, atMs);
      return next === undefined ? undefined : (await replace(seen, next)).written;
    },
  };

  /** Needs no read: the item keeps what earlier tries have left. */
  async function laterClaim({ key, owner, atMs, try: tried }: SliceClaim): Promise<Written> {
    const write = await conditionalWrite(
      client.send(
        new UpdateCommand({
          TableName: table.name,
          Key: sliceKeyOf(key),
          UpdateExpression:
            'SET #try = :try, #owner = :owner, #state = :claimed, atMs = :atMs, version = version + :one',
          ConditionExpression: '#try = :before AND #state = :ended',
          ExpressionAttributeNames: { '#try': 'try', '#owner': 'owner', '#state': 'state' },
          ExpressionAttributeValues: {
            ':try': tried,
            ':before': tried - 1,
            ':owner': owner,
            ':claimed': 'claimed',
            ':ended': 'ended',
            ':atMs': atMs,
            ':one': 1,
          },
          ReturnValues: 'ALL_NEW',
          ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
        }),
      ),
    );
    if (write.written) return { written: sliceOfItem(key, write.output.Attributes) };
    return { existing: write.existing === undefined ? undefined : sliceOfItem(key, write.existing) };
  }
}

/** Returns the stored slices of a partition, or of a range in it, in order. */
export async function slicesOfPartition(
  table: Pick<Table, 'client' | 'name'>,
  { dispatchId, partition }: { readonly dispatchId: string; readonly partition: number },
  read: { readonly sort?: SortKeys; readonly consistent: boolean },
): Promise<Slice[]> {
  const slices: Slice[] = [];
  for await (const page of queryPages(table, slicePartition(dispatchId, partition), { sort: undefined, ...read })) {
    for (const item of page) slices.push(sliceOfItem({ dispatchId, slice: sliceOfSortKey(item['sk']) }, item));
  }
  return slices;
}

/** Returns the stored slices of a dispatch from one on and below another, in order, strongly consistent. */
export async function slicesBetween(
  table: Pick<Table, 'client' | 'name'>,
  dispatchId: string,
  { from, until }: { readonly from: number; readonly until: number },
): Promise<Slice[]> {
  const sort = {
    from: sliceKeyOf({ dispatchId, slice: from }).sk,
    to: sliceKeyOf({ dispatchId, slice: until - 1 }).sk,
  };
  const partitions = slicePartitionsBetween(from, until);
  const found = await Promise.all(
    partitions.map((partition) => slicesOfPartition(table, { dispatchId, partition }, { sort, consistent: true })),
  );
  return found.flat();
}

import { type DynamoDBDocumentClient, GetCommand, PutCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { conditionalWrite } from '../../../aws/conditional-write.ts';
import { jobExpiresAtSeconds } from '../../items.ts';
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
import { sliceItemOf, sliceKeyOf, sliceOfItem } from './slice-items.ts';

/**
 * The slices of jobs as a worker sees them. Every write may be repeated by its author; all throw when the store cannot be
 * reached.
 */
export interface Slices {
  /** Claims a try. `claimed` also when the claim that is there is this one: the SDK repeated a write whose reply was lost. */
  claim(claim: SliceClaim): Promise<{ readonly kind: 'claimed' | 'met'; readonly slice: Slice }>;
  /**
   * Ends the claimant's own try, as it was claimed, and adds its calls to the platform to those of the tries before. Undefined
   * when another has ended it, or claimed the next; else what is there.
   */
  end(own: Slice, outcomes: Outcomes, calls?: number): Promise<Slice | undefined>;
  /** The same of a try that its author has not called anybody in, whether its claim was written or not. */
  endUncalled(claim: SliceClaim, outcomes: Outcomes): Promise<Slice | undefined>;
  /**
   * Ends the try of a dead claimant, as `owner`; `unknown` unless told otherwise. Undefined when the slice is not as it was
   * seen.
   */
  endForTheDead(seen: Slice, owner: string, outcome?: Outcome): Promise<Slice | undefined>;
  /** Settles outcomes that are `unknown`. Undefined when the slice is not as it was seen, or is settled already. */
  settle(seen: Slice, settlements: Settlements, atMs: number): Promise<Slice | undefined>;
}

interface StoreOptions {
  readonly client: DynamoDBDocumentClient;
  readonly table: string;
  readonly nowMs: () => number;
}

/** The slice as it was written, or what was in its way. */
type Written =
  | { readonly written: Slice; readonly existing?: never }
  | { readonly written?: never; readonly existing: Slice | undefined };

/**
 * Slices in the messages table. A claim and its end are one write each; what was read is written under the condition
 * that it is as it was. TTL is no part of any condition (R24).
 */
export function sliceStore({ client, table, nowMs }: StoreOptions): Slices & {
  /** Strongly consistent. */
  readonly find: (key: SliceKey) => Promise<Slice | undefined>;
} {
  // A slice may be tried long after its job was accepted: it is kept from its last write on, or as long as its job (D56).
  const expiresAtSeconds = (slice: Slice) => jobExpiresAtSeconds({ ...slice, acceptedAtMs: nowMs() });

  async function find(key: SliceKey): Promise<Slice | undefined> {
    const { Item } = await client.send(
      new GetCommand({ TableName: table, Key: sliceKeyOf(key), ConsistentRead: true }),
    );
    return Item === undefined ? undefined : sliceOfItem(key, Item);
  }

  /** Writes the slice if what is there is as it was seen, or still nothing; else what is there. */
  async function replace(seen: Slice | undefined, next: Slice): Promise<Written> {
    const write = await conditionalWrite(
      client.send(
        new PutCommand({
          TableName: table,
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
      // A claim of one's own may have landed in between.
      if (written === undefined) throw new Error('the slice has changed meanwhile');
      return written;
    },

    endForTheDead: async (seen, owner, outcome) => (await replace(seen, endedForTheDead(seen, owner, outcome))).written,

    settle: async (seen, settlements, atMs) => {
      const next = settled(seen, settlements, atMs);
      return next === undefined ? undefined : (await replace(seen, next)).written;
    },
  };

  /** Without a read before: the item has what the tries before have left. */
  async function laterClaim({ key, owner, atMs, try: tried }: SliceClaim): Promise<Written> {
    const write = await conditionalWrite(
      client.send(
        new UpdateCommand({
          TableName: table,
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

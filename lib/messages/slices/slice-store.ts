import { type DynamoDBDocumentClient, GetCommand, PutCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { conditionalWrite } from '../../aws/conditional-write.ts';
import { jobMemorySeconds } from '../items.ts';
import {
  claimed,
  ended,
  endedForTheDead,
  isOwn,
  mayClaim,
  type Slice,
  type SliceClaim,
  type SliceKey,
  settled,
} from './slice.ts';
import { packed, sliceItemOf, sliceKeyOf, sliceOfItem } from './slice-items.ts';
import type { Slices } from './slices.ts';

interface StoreOptions {
  readonly client: DynamoDBDocumentClient;
  readonly table: string;
  readonly nowMs: () => number;
}

/** What is written over a slice that was read is written only while the slice is so. */
const asSeen = 'version = :seen';
const names = { '#try': 'try', '#owner': 'owner', '#state': 'state' } as const;

/**
 * Slices in the messages table. A claim and its end are one write each; all else is read and written back under the condition
 * that it is as it was read. TTL is no part of any condition (R24).
 */
export function sliceStore({ client, table, nowMs }: StoreOptions): Slices & {
  /** Strongly consistent. */
  readonly find: (key: SliceKey) => Promise<Slice | undefined>;
} {
  const expiresAtSeconds = () => Math.ceil(nowMs() / 1_000) + jobMemorySeconds;

  async function find(key: SliceKey): Promise<Slice | undefined> {
    const { Item } = await client.send(
      new GetCommand({ TableName: table, Key: sliceKeyOf(key), ConsistentRead: true }),
    );
    return Item === undefined ? undefined : sliceOfItem(key, Item);
  }

  /** Undefined when the slice is not as it was seen. */
  async function replace(seen: Slice | undefined, next: Slice): Promise<Slice | undefined> {
    const { written } = await conditionalWrite(
      client.send(
        new PutCommand({
          TableName: table,
          Item: { ...sliceKeyOf(next.key), ...sliceItemOf(next), expiresAtSeconds: expiresAtSeconds() },
          ...(seen === undefined
            ? { ConditionExpression: 'attribute_not_exists(pk)' }
            : {
                ConditionExpression: asSeen,
                ExpressionAttributeValues: { ':seen': seen.version },
              }),
        }),
      ),
    );
    return written ? next : undefined;
  }

  return {
    find,

    claim: async (claim) => {
      const write = claim.try === 0 ? firstClaim(claim) : laterClaim(claim);
      const { taken, existing } = await write;
      if (taken !== undefined) return { kind: 'claimed', slice: taken };
      if (existing === undefined) throw new Error('the slice of a later try is not there');
      const isMine = isOwn(existing, claim) && existing.state === 'claimed';
      return { kind: isMine ? 'claimed' : 'met', slice: existing };
    },

    end: async (own, outcomes) => {
      let claim = own;
      for (;;) {
        const { written, existing } = await endClaimed(claim, ended(claim, outcomes));
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
      const written = await replace(existing, next);
      // A claim of one's own may have landed in between.
      if (written === undefined) throw new Error('the slice has changed meanwhile');
      return written;
    },

    endForTheDead: async (seen, owner) => await replace(seen, endedForTheDead(seen, owner)),

    settle: async (seen, settlements, atMs) => {
      const next = settled(seen, settlements, atMs);
      return next === undefined ? undefined : await replace(seen, next);
    },
  };

  async function endClaimed(claim: Slice, next: Slice) {
    const write = await conditionalWrite(
      client.send(
        new UpdateCommand({
          TableName: table,
          Key: sliceKeyOf(claim.key),
          UpdateExpression: 'SET #state = :ended, outcomes = :outcomes, version = :version',
          ConditionExpression: asSeen,
          ExpressionAttributeNames: { '#state': names['#state'] },
          ExpressionAttributeValues: {
            ':seen': claim.version,
            ':ended': 'ended',
            ':outcomes': packed(next.outcomes),
            ':version': next.version,
          },
          ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
        }),
      ),
    );
    if (write.written) return { written: next };
    return { existing: write.existing === undefined ? undefined : sliceOfItem(claim.key, write.existing) };
  }

  async function firstClaim(claim: SliceClaim) {
    const next = claimed(undefined, claim);
    const write = await conditionalWrite(
      client.send(
        new PutCommand({
          TableName: table,
          Item: { ...sliceKeyOf(claim.key), ...sliceItemOf(next), expiresAtSeconds: expiresAtSeconds() },
          ConditionExpression: 'attribute_not_exists(pk)',
          ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
        }),
      ),
    );
    if (write.written) return { taken: next };
    return { existing: write.existing === undefined ? undefined : sliceOfItem(claim.key, write.existing) };
  }

  async function laterClaim({ key, owner, atMs, try: tried }: SliceClaim) {
    const write = await conditionalWrite(
      client.send(
        new UpdateCommand({
          TableName: table,
          Key: sliceKeyOf(key),
          UpdateExpression:
            'SET #try = :try, #owner = :owner, #state = :claimed, atMs = :atMs, version = version + :one',
          ConditionExpression: '#try = :before AND #state = :ended',
          ExpressionAttributeNames: names,
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
    if (write.written) return { taken: sliceOfItem(key, write.output.Attributes) };
    return { existing: write.existing === undefined ? undefined : sliceOfItem(key, write.existing) };
  }
}

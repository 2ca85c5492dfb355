import { type DynamoDBDocumentClient, GetCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import * as v from 'valibot';
import { conditionalWrite } from '../../aws/conditional-write.ts';
import { type Item, queryPages } from '../../aws/dynamodb-batch.ts';
import type { ItemKey } from '../../aws/item-key.ts';
import { omitUndefined } from '../../keys/omit-undefined.ts';
import { parameterPageAt } from '../accept/parameter-store.ts';
import { addressesFrom, addressesPerItem, type StoredAddresses } from '../accept/whole-job.ts';
import { openPlaces, placeInSlice, sliceOf } from '../dispatch/claims/slice.ts';
import { sliceKeyOf, sliceOfItem } from '../dispatch/claims/slice-items.ts';
import { acceptedKey, jobExpiresAtSeconds, jobKey, receiptGroupOf, receiptPartition, recipientsKey } from '../items.ts';
import { JobHeadSchema } from '../job.ts';
import { JobStateSchema } from '../job-state.ts';
import { receiptsOf } from '../receipts/receipt-items.ts';
import { canonicalAddress } from '../request/recipient-address.ts';
import {
  addressesWithout,
  type Change,
  parametersWithout,
  receiptsWithout,
  sharedWithout,
  sliceWithout,
  straightWithout,
} from './anonymized-items.ts';
import type { ErasedInJob, EraseInJob, JobPlace } from './erase-ports.ts';
import { isOf, type PersonIds } from './person.ts';
import type { Rewriter } from './rewrite-store.ts';

interface StoreOptions {
  readonly client: DynamoDBDocumentClient;
  readonly table: string;
  readonly rewriter: Rewriter;
  readonly nowMs: () => number;
}

const JobItemSchema = v.object({
  head: v.optional(v.pipe(v.string(), v.parseJson(), JobHeadSchema)),
  erased: JobStateSchema.entries.erased,
  erasing: v.optional(v.boolean()),
});

type JobItem = v.InferOutput<typeof JobItemSchema>;

interface Marking {
  readonly indexes: ReadonlySet<number>;
  readonly job: JobItem;
  readonly head: JobItem['head'];
}

/** Erases recipients of one job. Returns undefined for another client's job. */
export function jobEraser({ client, table, rewriter, nowMs }: StoreOptions): EraseInJob {
  const find = async (key: ItemKey): Promise<Item | undefined> =>
    (await client.send(new GetCommand({ TableName: table, Key: key, ConsistentRead: true }))).Item;

  return async ({ jobId, indexes: found, ids, clientId }, learned) => {
    const [jobItem, accepted] = await Promise.all([find(jobKey(jobId)), find(acceptedKey(jobId))]);
    const job = v.parse(JobItemSchema, jobItem ?? {});
    const head = job.head ?? v.parse(JobItemSchema, accepted ?? {}).head;
    if (clientId !== undefined && head?.clientId !== clientId) return undefined;

    const unfinished = job.erasing ? [...(job.erased ?? [])] : [];
    const indexes = new Set([...found, ...unfinished]);
    // The mark comes first (job-state.ts), with `erasing`, by which a later scan finds an unfinished job. So no
    // recipient without parameters is called. `erasing` goes last.
    const erased = (await marked(jobId, { indexes, job, head })) ?? new Set([...(job.erased ?? []), ...indexes]);
    const changed: Partial<Record<JobPlace, number>> = {};
    const rewrite = async (place: JobPlace, item: Item, rule: (item: Item) => Change | undefined) => {
      if (await rewriter.rewrite(table, item, rule)) changed[place] = (changed[place] ?? 0) + 1;
    };

    const states = await eraseSlices({ jobId, indexes }, rewrite);
    for (const page of await pagesWith(jobId, indexes)) {
      await rewrite('parameters', page, (item) => parametersWithout(item, indexes));
    }
    const receipts = await receiptItemsOf(jobId, indexes);
    const addresses = await addressItems(jobId, indexes);
    const received = receipts.flatMap(receiptsOf).map(({ index, userId, waId }) => [index, [userId, waId]] as const);
    const named = addresses.flatMap(addressesIn).map(([index, to]) => [index, [to]] as const);
    await learned(
      othersOf(
        ids,
        [...received, ...named].filter(([index]) => indexes.has(index)),
      ),
    );
    for (const item of receipts) await rewrite('receipts', item, (seen) => receiptsWithout(seen, indexes));
    const shared = { ids, whole: head !== undefined && erased.size >= head.total };
    for (const item of [await find(jobKey(jobId)), accepted]) {
      if (item !== undefined) await rewrite('shared', item, (seen) => sharedWithout(seen, shared));
    }
    for (const item of addresses) {
      await rewrite('addresses', item, (seen) =>
        'to' in seen ? straightWithout(seen, indexes) : addressesWithout(seen, indexes),
      );
    }
    if (states.underWay.length === 0) await finished(jobId, erased.size);
    return { indexes, ...states, changed };
  };

  /** Returns all erased indexes of the job from now on, or undefined if nothing is written. */
  async function marked(jobId: string, { indexes, job, head }: Marking): Promise<ReadonlySet<number> | undefined> {
    if (!rewriter.writes || (job.erasing && [...indexes].every((index) => job.erased?.has(index)))) return undefined;
    const { Attributes } = await client.send(
      new UpdateCommand({
        TableName: table,
        Key: jobKey(jobId),
        // Before the fan-out begins there is no item yet, and TTL must find one.
        UpdateExpression:
          'SET erasing = :true, expiresAtSeconds = if_not_exists(expiresAtSeconds, :expiry) ADD erased :indexes',
        ExpressionAttributeValues: {
          ':true': true,
          ':indexes': new Set(indexes),
          ':expiry': jobExpiresAtSeconds({
            ...omitUndefined({ keptUntilMs: head?.keptUntilMs }),
            acceptedAtMs: nowMs(),
          }),
        },
        ReturnValues: 'ALL_NEW',
      }),
    );
    return v.parse(JobItemSchema, Attributes).erased;
  }

  /** Keeps `erasing` if more recipients were marked meanwhile. */
  async function finished(jobId: string, erasedCount: number): Promise<void> {
    if (!rewriter.writes) return;
    await conditionalWrite(
      client.send(
        new UpdateCommand({
          TableName: table,
          Key: jobKey(jobId),
          UpdateExpression: 'REMOVE erasing',
          ConditionExpression: 'size(erased) = :count',
          ExpressionAttributeValues: { ':count': erasedCount },
        }),
      ),
    );
  }

  async function eraseSlices(
    { jobId, indexes }: { readonly jobId: string; readonly indexes: ReadonlySet<number> },
    rewrite: (place: JobPlace, item: Item, rule: (item: Item) => Change | undefined) => Promise<void>,
  ): Promise<Pick<ErasedInJob, 'pending' | 'underWay'>> {
    const [pending, underWay]: [number[], number[]] = [[], []];
    for (const [number, own] of Map.groupBy(indexes, (index) => sliceOf({ jobId, index }).slice)) {
      const key = { jobId, slice: number };
      const item = await find(sliceKeyOf(key));
      if (item === undefined) {
        pending.push(...own);
        continue;
      }
      const slice = sliceOfItem(key, item);
      const open = own.filter((index) => openPlaces(slice).includes(placeInSlice(index)));
      (slice.state === 'claimed' ? underWay : pending).push(...open);
      await rewrite('outcomes', item, (seen) => sliceWithout(key, seen, indexes));
    }
    return { pending, underWay };
  }

  async function pagesWith(jobId: string, indexes: ReadonlySet<number>): Promise<Item[]> {
    const pages = new Map<string, Item>();
    for (const index of [...indexes].sort((one, other) => one - other)) {
      const page = await parameterPageAt({ client, table }, { jobId, index });
      if (page !== undefined) pages.set(`${page['pk']} ${page['sk']}`, page);
    }
    return [...pages.values()];
  }

  async function receiptItemsOf(jobId: string, indexes: ReadonlySet<number>): Promise<Item[]> {
    const items: Item[] = [];
    for (const group of new Set([...indexes].map(receiptGroupOf))) {
      const read = { sort: undefined, consistent: true };
      const pages = queryPages({ documentClient: client, tableName: table }, receiptPartition(jobId, group), read);
      for await (const page of pages) {
        items.push(...page.filter((item) => receiptsOf(item).some(({ index }) => indexes.has(index))));
      }
    }
    return items;
  }

  async function addressItems(jobId: string, indexes: ReadonlySet<number>): Promise<Item[]> {
    const firsts = new Set([...indexes].map((index) => Math.floor(index / addressesPerItem) * addressesPerItem));
    const keys = [jobKey(jobId), ...[...firsts].map((first) => recipientsKey(jobId, first))];
    const items = await Promise.all(keys.map(find));
    return items.filter((item) => item !== undefined && ('to' in item || 'recipients' in item)) as Item[];
  }
}

const PackedSchema = v.object({
  firstIndex: v.optional(v.number(), 0),
  recipients: v.optional(v.instance(Uint8Array)),
  to: v.optional(v.instance(Uint8Array)),
});

function addressesIn(item: Item): StoredAddresses['addresses'] {
  const { firstIndex, recipients, to = recipients } = v.parse(PackedSchema, item);
  return to === undefined ? [] : addressesFrom(to, firstIndex).addresses;
}

/**
 * Returns other ids of the person in its receipts and addresses. A recipient without a known id is another person, of
 * an unfinished erasure.
 */
function othersOf(
  ids: PersonIds,
  named: readonly (readonly [index: number, names: readonly (string | undefined)[]])[],
): string[] {
  const byIndex = Map.groupBy(named, ([index]) => index);
  const ofEach = [...byIndex.values()].map((some) =>
    some.flatMap(([, names]) => names.filter((name) => name !== undefined)),
  );
  const own = ofEach.filter((names) => names.some((name) => isOf(ids, name)));
  return own
    .flat()
    .map(canonicalAddress)
    .filter((name) => !isOf(ids, name));
}

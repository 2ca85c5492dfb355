import { PutCommand } from '@aws-sdk/lib-dynamodb';
import * as v from 'valibot';
import { forEachConcurrently } from '../../aws/concurrently.ts';
import { type QueriedTable, queryPages } from '../../aws/dynamodb-batch.ts';
import type { NameOf, PersonName } from '../../opt-outs/person-name.ts';
import type { DispatchHead, Recipient } from '../dispatch/head.ts';
import { dispatchSortKey, lastOwnCallMs, timeOfDispatch, wrotePartition } from '../dispatch/items.ts';
import { correspondentsMemorySeconds, groupsOf, groupsOfDispatch, isAmong, shortName } from './correspondents.ts';

/** Notes the recipients of a dispatch. Rejects when a write fails or the limit passes. Is idempotent. */
export type NoteCorrespondents = (
  dispatch: { readonly head: DispatchHead; readonly recipients: readonly Recipient[] },
  limitMs: number,
) => Promise<void>;

/**
 * Returns clients that have written to a person (by any of these names) from a number since then, ascending, with their
 * first time. Reads strongly.
 */
export type FindCorrespondents = (asked: {
  readonly phoneNumberId: string;
  readonly names: readonly PersonName[];
  readonly sinceMs: number;
}) => Promise<ReadonlyMap<number, number>>;

const writesAtOnce = 16;

/** The time sorts after every dispatch. */
const latestMs = 999_999_999_999_999;

const WroteSchema = v.object({
  sk: v.string(),
  clientId: v.number(),
  names: v.instance(Uint8Array),
  fromMs: v.optional(v.number()),
});

/** Reads the key for people's names with the first dispatch: a number of one client never needs it. */
export function correspondentWriter({ client, name }: QueriedTable, names: () => Promise<NameOf>): NoteCorrespondents {
  return async ({ head, recipients }, limitMs) => {
    const { dispatchId, clientId, phoneNumberId, when } = head;
    const groups = groupsOfDispatch(recipients.map(({ to }) => to).map(await names()));
    // The limit starts here, because the key may come slowly, once per process.
    const abortSignal = AbortSignal.timeout(limitMs);
    // A scheduled send may write until its last possible call (D56): it concerns its client until 30 days after that.
    const lastMs = lastOwnCallMs(head) ?? head.acceptedAtMs;
    const sk = dispatchSortKey(lastMs, dispatchId);
    const expiresAtSeconds = Math.ceil(lastMs / 1_000) + correspondentsMemorySeconds;
    const facts = { clientId, expiresAtSeconds, fromMs: when?.fromMs };
    await forEachConcurrently(groups, writesAtOnce, ([group, packed]) => {
      const Item = { pk: wrotePartition(phoneNumberId, group), sk, names: packed, ...facts };
      return client.send(new PutCommand({ TableName: name, Item }), { abortSignal });
    });
  };
}

export function correspondentReader(messages: QueriedTable): FindCorrespondents {
  return async ({ phoneNumberId, names, sinceMs }) => {
    const sort = { from: dispatchSortKey(sinceMs), to: dispatchSortKey(latestMs) };
    const found = new Map<number, number>();
    const search = async (partition: string, name: Uint8Array) => {
      for await (const page of queryPages(messages, partition, { sort, consistent: true })) {
        for (const item of page) {
          const { clientId, names: packed, sk, fromMs: wroteMs = timeOfDispatch(sk) } = v.parse(WroteSchema, item);
          if (wroteMs < (found.get(clientId) ?? Infinity) && isAmong(packed, name)) found.set(clientId, wroteMs);
        }
      }
    };
    await Promise.all(
      names
        .map(shortName)
        .flatMap((name) => groupsOf(name).map((group) => search(wrotePartition(phoneNumberId, group), name))),
    );
    return new Map([...found].sort(([one], [other]) => one - other));
  };
}

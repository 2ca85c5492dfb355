import { PutCommand } from '@aws-sdk/lib-dynamodb';
import * as v from 'valibot';
import { type QueriedTable, queryPages } from '../../aws/dynamodb-batch.ts';
import { sideBySide } from '../../aws/side-by-side.ts';
import type { NameOf, PersonName } from '../../opt-outs/person-name.ts';
import { jobSortKey, timeOfJob, wrotePartition } from '../items.ts';
import type { JobHead, Recipient } from '../job.ts';
import { correspondentsMemorySeconds, groupsOf, groupsOfJob, isAmong, shortName, wroteAtMs } from './correspondents.ts';

/** Notes whom a job writes to. Rejects when one write fails, or all of them take longer than the limit; may be repeated. */
export type NoteCorrespondents = (
  job: { readonly head: JobHead; readonly recipients: readonly Recipient[] },
  limitMs: number,
) => Promise<void>;

/**
 * Which clients have written to a person, known by any of these names, from a number since then: ascending, each with the moment of
 * the first time. Strongly consistent.
 */
export type FindCorrespondents = (asked: {
  readonly phoneNumberId: string;
  readonly names: readonly PersonName[];
  readonly sinceMs: number;
}) => Promise<ReadonlyMap<number, number>>;

const writesAtOnce = 16;

/** After every job. */
const latestMs = 999_999_999_999_999;

const WroteSchema = v.object({ sk: v.string(), clientId: v.number(), names: v.instance(Uint8Array) });

/** The key of people is asked for with the first job: what is sent from the number of one client never needs it. */
export function correspondentWriter(
  { documentClient, tableName }: QueriedTable,
  names: () => Promise<NameOf>,
): NoteCorrespondents {
  return async ({ head, recipients }, limitMs) => {
    const { jobId, clientId, phoneNumberId } = head;
    const groups = groupsOfJob(recipients.map(({ to }) => to).map(await names()));
    // From here on: the key may come slowly, once in the life of a process.
    const abortSignal = AbortSignal.timeout(limitMs);
    const items = wroteAtMs(head).flatMap((atMs) => {
      const expiresAtSeconds = Math.ceil(atMs / 1_000) + correspondentsMemorySeconds;
      return [...groups].map(([group, packed]) => ({
        ...{ pk: wrotePartition(phoneNumberId, group), sk: jobSortKey(atMs, jobId) },
        ...{ clientId, names: packed, expiresAtSeconds },
      }));
    });
    await sideBySide(items, writesAtOnce, (Item) => {
      return documentClient.send(new PutCommand({ TableName: tableName, Item }), { abortSignal });
    });
  };
}

export function correspondentReader(messages: QueriedTable): FindCorrespondents {
  return async ({ phoneNumberId, names, sinceMs }) => {
    const sort = { from: jobSortKey(sinceMs), to: jobSortKey(latestMs) };
    const found = new Map<number, number>();
    const search = async (partition: string, name: Uint8Array) => {
      for await (const page of queryPages(messages, partition, { sort, consistent: true })) {
        for (const item of page) {
          const { clientId, names: packed, sk } = v.parse(WroteSchema, item);
          const wroteMs = timeOfJob(sk);
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

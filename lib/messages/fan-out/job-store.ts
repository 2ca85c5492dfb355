import { type DynamoDBDocumentClient, GetCommand, PutCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import * as v from 'valibot';
import { conditionalWrite } from '../../aws/conditional-write.ts';
import { storePause } from '../../aws/pause.ts';
import { acceptedOf } from '../accept/accepted-job.ts';
import { putDescription } from '../accept/accepted-job-store.ts';
import { claimMemorySeconds } from '../dispatch/claim.ts';
import { acceptedKey, commitKey, jobKey, jobsOfDayPartition, jobsOfDaySortKey, mayBegin } from '../items.ts';
import type { JobHead } from '../job.ts';
import { JobStateSchema } from '../job-state.ts';
import type { JobRecords } from './fan-out.ts';
import { leaseMs, type RoundRun, roundStateOf } from './rounds.ts';

const ProgressSchema = v.object({ progress: v.record(v.string(), v.number()) });

const RoundRecordSchema = v.object({ round: v.number(), owner: v.optional(v.string()), leaseUntilMs: v.number() });

/** Whose round it is, and that the job is there: TTL may have removed it. See rounds.ts. */
const mayTake =
  'attribute_exists(head) AND (attribute_not_exists(#part) OR (#part.#round <= :round AND (attribute_not_exists(#part.#owner) OR #part.#owner = :owner OR #part.leaseUntilMs <= :nowMs)))';
const isHeld = '#part.#round = :round AND #part.#owner = :owner';

/** Job records of the fan-out. Every write may be repeated. */
export function jobStore(client: DynamoDBDocumentClient, table: string): JobRecords {
  return {
    isCommitted: async (jobId) => {
      const { Item } = await client.send(
        new GetCommand({ TableName: table, Key: commitKey(jobId), ConsistentRead: true }),
      );
      return Item !== undefined;
    },

    begin: async (head, part) => {
      const expiresAtSeconds = Math.ceil(head.acceptedAtMs / 1_000) + claimMemorySeconds;
      const progress = await setHead(head, expiresAtSeconds);
      if (progress === undefined) return undefined;
      await client.send(new PutCommand({ TableName: table, Item: { ...pointerOf(head), expiresAtSeconds } }));
      return progress[String(part)] ?? 0;
    },

    describe: async (job) => {
      const { Item } = await client.send(new GetCommand({ TableName: table, Key: acceptedKey(job.head.jobId) }));
      if (Item !== undefined && acceptedOf(Item).whole) return;
      await putDescription({ documentClient: client, tableName: table, pause: storePause }, job);
    },

    take: async (run, nowMs) => {
      const write = await conditionalWrite(
        client.send(
          new UpdateCommand({
            TableName: table,
            Key: jobKey(run.jobId),
            UpdateExpression: 'SET #part = :record',
            ConditionExpression: mayTake,
            ExpressionAttributeNames: namesOf(run),
            ExpressionAttributeValues: { ...valuesOf(run), ':nowMs': nowMs, ':record': heldFrom(nowMs, run) },
            ReturnValues: 'ALL_NEW',
            ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
          }),
        ),
      );
      if (write.written) {
        const { Attributes: item } = write.output;
        return { kind: 'taken', queued: queuedIn(item, run), state: v.parse(JobStateSchema, item) };
      }
      const state = roundStateOf(roundIn(write.existing, run), run, nowMs);
      return state.kind === 'held' ? state : { kind: 'over' };
    },

    checkpoint: async (run, queued, nowMs) => {
      const write = await conditionalWrite(
        client.send(
          new UpdateCommand({
            TableName: table,
            Key: jobKey(run.jobId),
            UpdateExpression: 'SET progress.#number = :queued, #part = :record',
            ConditionExpression: isHeld,
            ExpressionAttributeNames: { ...namesOf(run), '#number': String(run.part) },
            ExpressionAttributeValues: { ...valuesOf(run), ':queued': queued, ':record': heldFrom(nowMs, run) },
            ReturnValues: 'ALL_NEW',
          }),
        ),
      );
      return write.written ? v.parse(JobStateSchema, write.output.Attributes) : undefined;
    },

    handOver: async (run, nextRound) => {
      const write = await conditionalWrite(
        client.send(
          new UpdateCommand({
            TableName: table,
            Key: jobKey(run.jobId),
            UpdateExpression: 'SET #part = :record',
            ConditionExpression: isHeld,
            ExpressionAttributeNames: namesOf(run),
            ExpressionAttributeValues: { ...valuesOf(run), ':record': { round: nextRound, leaseUntilMs: 0 } },
            ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
          }),
        ),
      );
      // The SDK repeats a write whose reply was lost, and then meets its own.
      return write.written || roundStateOf(roundIn(write.existing, run), run, 0).kind === 'over';
    },
  };

  /** Undefined when the job was withdrawn: whoever writes first wins (D25, items.ts). */
  async function setHead(head: JobHead, expiresAtSeconds: number): Promise<Record<string, number> | undefined> {
    const write = await conditionalWrite(
      client.send(
        new UpdateCommand({
          TableName: table,
          Key: jobKey(head.jobId),
          UpdateExpression:
            'SET head = :head, expiresAtSeconds = :expiry, progress = if_not_exists(progress, :noProgress)',
          ConditionExpression: mayBegin,
          // As text: attends is unvalidated (D28), and a map takes no 33rd level, no empty name and no large number.
          ExpressionAttributeValues: { ':head': JSON.stringify(head), ':expiry': expiresAtSeconds, ':noProgress': {} },
          ReturnValues: 'ALL_NEW',
        }),
      ),
    );
    return write.written ? v.parse(ProgressSchema, write.output.Attributes).progress : undefined;
  }
}

function namesOf({ part }: RoundRun) {
  return { '#part': `round${part}`, '#round': 'round', '#owner': 'owner' };
}

function valuesOf({ round, owner }: RoundRun) {
  return { ':round': round, ':owner': owner };
}

function heldFrom(nowMs: number, { round, owner }: RoundRun) {
  return { round, owner, leaseUntilMs: nowMs + leaseMs };
}

function roundIn(item: Readonly<Record<string, unknown>> | undefined, { part }: RoundRun) {
  return v.parse(v.optional(RoundRecordSchema), item?.[`round${part}`]);
}

/** Counted apart from the rounds. */
function queuedIn(item: Readonly<Record<string, unknown>> | undefined, { part }: RoundRun): number {
  return v.parse(ProgressSchema, item).progress[String(part)] ?? 0;
}

function pointerOf(head: JobHead): Record<string, unknown> {
  return {
    pk: jobsOfDayPartition(head.did, head.acceptedAtMs),
    sk: jobsOfDaySortKey(head.acceptedAtMs, head.jobId),
    jobId: head.jobId,
  };
}

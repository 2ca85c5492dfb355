import { type DynamoDBDocumentClient, GetCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import * as v from 'valibot';
import { conditionalWrite } from '../../aws/conditional-write.ts';
import { present } from '../../keys/present.ts';
import { lockKey } from '../model/items.ts';
import { type HeldLock, type LockRequest, leaseMs, type SyncLocks } from './sync-lock.ts';
import { answerTo, type LockState, type Refused } from './sync-turns.ts';

const LockItemSchema = v.object({
  owner: v.string(),
  fence: v.number(),
  leaseUntilMs: v.number(),
  releasedAtMs: v.optional(v.number()),
  runs: v.record(v.string(), v.number()),
  waiting: v.record(v.string(), v.object({ sinceRun: v.number(), askedAtMs: v.number() })),
});
type LockItem = v.InferOutput<typeof LockItemSchema>;

/** The lease of a lock that its holder has given back. */
const released = 0;

/** Each one that fails has seen somebody else change the lock. */
const maxAttempts = 5;

interface LockTable {
  readonly documentClient: DynamoDBDocumentClient;
  readonly tableName: string;
}

/**
 * The synchronization lock as one item. It is never deleted and never expires: its fencing number must not start again. An
 * acquisition is written under the condition that lock and run are as they were read. Those who wait are entries of one
 * map, each written and removed by itself, so that being remembered is in nobody's way.
 */
export function syncLockStore(documentClient: DynamoDBDocumentClient, tableName: string): SyncLocks {
  const table: LockTable = { documentClient, tableName };
  return {
    acquire: async ({ name, ...request }) => {
      let item = await readItem(table, name);
      for (let attempt = 1; attempt <= maxAttempts; attempt++) {
        const answer = answerTo(item === undefined ? undefined : stateOf(item), request);
        if (answer.kind === 'held_already') {
          return { name, owner: request.owner, fence: answer.fence, again: true };
        }
        if (answer.kind === 'refused') {
          if (answer.waiting !== undefined) {
            await remember(table, { name, fence: answer.fence, contender: request.contender }, answer);
          }
          return undefined;
        }
        const write = await take(table, name, { item, state: answer.state, nowMs: request.nowMs });
        if (write.written) return { name, owner: request.owner, fence: answer.state.fence };
        item = v.parse(v.optional(LockItemSchema), write.existing);
      }
      return undefined;
    },
    heartbeat: (lock, nowMs) => updateHeld(table, lock, { leaseUntilMs: nowMs + leaseMs }),
    release: async (lock, nowMs) => {
      await updateHeld(table, lock, { leaseUntilMs: released, releasedAtMs: nowMs });
    },
  };
}

async function readItem({ documentClient, tableName }: LockTable, name: string): Promise<LockItem | undefined> {
  const { Item } = await documentClient.send(
    new GetCommand({ TableName: tableName, Key: lockKey(name), ConsistentRead: true }),
  );
  return v.parse(v.optional(LockItemSchema), Item);
}

function stateOf({ owner, fence, leaseUntilMs, releasedAtMs, runs, waiting }: LockItem): LockState {
  return {
    owner,
    fence,
    leaseUntilMs,
    releasedAtMs,
    runs: new Map(Object.entries(runs)),
    waiting: new Map(Object.entries(waiting)),
  };
}

/** Writes the state in which the lock is acquired, if it is still as in `item`. */
function take(
  { documentClient, tableName }: LockTable,
  name: string,
  { item, state, nowMs }: { readonly item: LockItem | undefined; readonly state: LockState; readonly nowMs: number },
) {
  const gone = Object.keys(item?.waiting ?? {}).filter((contender) => !state.waiting.has(contender));
  const settings = ['#owner = :owner', 'fence = :fence', 'leaseUntilMs = :until', 'startedAtMs = :now', 'runs = :runs'];
  if (item === undefined) settings.push('waiting = :nobody');
  return conditionalWrite(
    documentClient.send(
      new UpdateCommand({
        TableName: tableName,
        Key: lockKey(name),
        UpdateExpression: `SET ${settings.join(', ')} REMOVE ${['releasedAtMs', ...pathsOf(gone)].join(', ')}`,
        ConditionExpression:
          item === undefined ? 'attribute_not_exists(pk)' : 'fence = :fenceAsRead AND leaseUntilMs = :untilAsRead',
        ExpressionAttributeNames: { '#owner': 'owner', ...namesOf(gone) },
        ExpressionAttributeValues: {
          ':owner': state.owner,
          ':fence': state.fence,
          ':until': state.leaseUntilMs,
          ':now': nowMs,
          ':runs': Object.fromEntries(state.runs),
          ...(item === undefined ? { ':nobody': {} } : {}),
          ...present({ ':fenceAsRead': item?.fence, ':untilAsRead': item?.leaseUntilMs }),
        },
        ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
      }),
    ),
  );
}

/** Remembers who was refused, unless somebody has had the lock since: the next refusal does it. */
async function remember(
  { documentClient, tableName }: LockTable,
  { name, fence, contender }: { readonly name: string; readonly fence: number } & Pick<LockRequest, 'contender'>,
  { waiting, forgotten }: Refused,
): Promise<void> {
  const others = forgotten.filter((other) => other !== contender);
  const removal = others.length === 0 ? '' : ` REMOVE ${pathsOf(others).join(', ')}`;
  await conditionalWrite(
    documentClient.send(
      new UpdateCommand({
        TableName: tableName,
        Key: lockKey(name),
        UpdateExpression: `SET waiting.#contender = :waiting${removal}`,
        ConditionExpression: 'fence = :fence',
        ExpressionAttributeNames: { '#contender': contender, ...namesOf(others) },
        ExpressionAttributeValues: { ':fence': fence, ':waiting': waiting },
      }),
    ),
  );
}

function pathsOf(contenders: readonly string[]): string[] {
  return contenders.map((_, index) => `waiting.#gone${index}`);
}

function namesOf(contenders: readonly string[]): Record<string, string> {
  return Object.fromEntries(contenders.map((contender, index) => [`#gone${index}`, contender]));
}

async function updateHeld(
  { documentClient, tableName }: LockTable,
  lock: HeldLock,
  values: Readonly<Record<string, number>>,
): Promise<boolean> {
  const { written } = await conditionalWrite(
    documentClient.send(
      new UpdateCommand({
        TableName: tableName,
        Key: lockKey(lock.name),
        UpdateExpression: `SET ${Object.keys(values)
          .map((name) => `${name} = :${name}`)
          .join(', ')}`,
        ConditionExpression: '#owner = :owner AND fence = :fence AND leaseUntilMs > :released',
        ExpressionAttributeNames: { '#owner': 'owner' },
        ExpressionAttributeValues: {
          ':owner': lock.owner,
          ':fence': lock.fence,
          ':released': released,
          ...Object.fromEntries(Object.entries(values).map(([name, value]) => [`:${name}`, value])),
        },
      }),
    ),
  );
  return written;
}

import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import * as v from 'valibot';
import type { Item } from '../../aws/dynamodb-batch.ts';
import { LeaseSchema } from '../../aws/lease.ts';
import { backoff, type Pause } from '../../aws/pause.ts';
import { type Changed, changeVersioned } from '../../aws/versioned-item.ts';
import { lockKey } from '../model/items.ts';
import type { HeldLock, SyncLocks } from './sync-lock.ts';
import { answerTo, type LockState, noRuns, released, renewed } from './sync-lock-state.ts';

const LockSchema = v.object({
  lease: v.optional(LeaseSchema),
  fence: v.number(),
  releasedAtMs: v.optional(v.number()),
  runs: v.record(v.string(), v.number()),
  waiting: v.record(v.string(), v.object({ sinceRun: v.number(), askedAtMs: v.number() })),
});

/** Each failed attempt has met another's success, and at most `maxWaiting` refused contenders write at once. */
const mostTries = 12;
const conflictPause = backoff(10, 200);

/** Each lock is one item (versioned-item.ts). It never expires, because its fencing number must not restart. */
export function syncLockStore(client: DynamoDBDocumentClient, table: string, pause: Pause = conflictPause): SyncLocks {
  const change = <Result>(name: string, rule: (state: LockState) => Changed<LockState, Result>) =>
    changeVersioned({ table: { client, name: table }, key: lockKey(name), stateOf, itemOf }, rule, {
      mostTries,
      pause,
    });

  /** Changes the lock for its holder; returns false when another holds it. */
  const changeHeld = async (lock: HeldLock, rule: (state: LockState) => LockState): Promise<boolean> => {
    const changed = await change(lock.name, (before) => {
      const state = rule(before);
      return { state, result: state !== before };
    });
    if (changed === undefined) throw new Error(`the lock ${lock.name} could not be changed`);
    return changed.result;
  };

  return {
    acquire: async ({ name, ...request }) => {
      const answer = await change(name, (state) => answerTo(state, request));
      if (answer === undefined || answer.result === 'refused') return undefined;
      const lock = { name, owner: request.owner, fence: answer.state.fence };
      return answer.result === 'acquired' ? lock : { ...lock, again: true };
    },
    heartbeat: (lock, nowMs) => changeHeld(lock, (state) => renewed(state, lock, nowMs)),
    release: async (lock, nowMs) => {
      await changeHeld(lock, (state) => released(state, lock, nowMs));
    },
  };
}

function stateOf(item: Item | undefined): LockState {
  if (item === undefined) return noRuns;
  const { runs, waiting, ...state } = v.parse(LockSchema, item);
  return { ...state, runs: new Map(Object.entries(runs)), waiting: new Map(Object.entries(waiting)) };
}

function itemOf({ runs, waiting, ...state }: LockState): Item {
  return { ...state, runs: Object.fromEntries(runs), waiting: Object.fromEntries(waiting) };
}

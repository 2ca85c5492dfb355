import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import * as v from 'valibot';
import { backoff, type Pause } from '../aws/pause.ts';
import { changeVersioned } from '../aws/versioned-item.ts';
import { hintsKey } from '../templates/model/items.ts';
import { type Change, type HintState, idle, type Step } from './hint-state.ts';

export interface HintStore {
  /**
   * Changes the state by compare-and-set (versioned-item.ts), and returns the next step. Throws under lasting
   * contention, or when the table fails.
   */
  change(wabaId: string, rule: (state: HintState) => Change): Promise<Step>;
}

/** Each failed attempt has met another writer's success. */
const mostTries = 12;
const conflictPause = backoff(20, 500);

const RefreshTaskSchema = v.object({ templateIds: v.array(v.string()), numbers: v.boolean(), everything: v.boolean() });

const HintStateSchema = v.object({
  gathered: RefreshTaskSchema,
  reading: RefreshTaskSchema,
  listing: v.optional(v.record(v.string(), v.unknown())),
  beforeListing: v.optional(v.literal(true)),
  turn: v.number(),
  lease: v.optional(v.object({ owner: v.number(), untilMs: v.number() })),
  readyAtMs: v.number(),
  listsAtMs: v.optional(v.number()),
  spent: v.array(v.object({ turn: v.number(), beganAtMs: v.number(), calls: v.number() })),
  wakeAtMs: v.number(),
  failures: v.number(),
});

const HintItemSchema = v.object({ state: v.pipe(v.string(), v.parseJson(), HintStateSchema) });

/** The item is never deleted. */
export function hintStore(client: DynamoDBDocumentClient, table: string, pause: Pause = conflictPause): HintStore {
  return {
    change: async (wabaId, rule) => {
      const changed = await changeVersioned<HintState, Step>(
        {
          ...{ table: { client, name: table }, key: hintsKey(wabaId) },
          stateOf: (item) => (item === undefined ? idle : v.parse(HintItemSchema, item).state),
          itemOf: (state) => ({ state: JSON.stringify(state) }),
        },
        (before) => {
          const { state, step } = rule(before);
          return { state, result: step };
        },
        { mostTries, pause },
      );
      if (changed === undefined) throw new Error(`the hints of ${wabaId} could not be changed`);
      return changed.result;
    },
  };
}

import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import * as v from 'valibot';
import { backoff, type Pause } from '../aws/pause.ts';
import { changeVersioned } from '../aws/versioned-item.ts';
import { hintsKey } from '../templates/model/items.ts';
import { type Change, type HintState, idle, type Step } from './turns.ts';

/** Where the hints of a WABA are kept. */
export interface HintStore {
  /**
   * Changes the state under the condition that it is as it was read (versioned-item.ts), and returns what is then to be done.
   * Throws when other writers were first again and again, or the table cannot be reached.
   */
  change(wabaId: string, rule: (state: HintState) => Change): Promise<Step>;
}

/** Each one that fails has seen another writer's. */
const mostTries = 12;
const conflictPause = backoff(20, 500);

const TaskSchema = v.object({ templateIds: v.array(v.string()), numbers: v.boolean(), everything: v.boolean() });

const HintStateSchema = v.object({
  gathered: TaskSchema,
  reading: TaskSchema,
  listing: v.exactOptional(v.record(v.string(), v.unknown())),
  turn: v.number(),
  lease: v.exactOptional(v.object({ owner: v.number(), untilMs: v.number() })),
  readyAtMs: v.number(),
  spent: v.array(v.object({ turn: v.number(), beganAtMs: v.number(), calls: v.number() })),
  wakeAtMs: v.number(),
  failures: v.number(),
});

const HintItemSchema = v.object({ state: v.pipe(v.string(), v.parseJson(), HintStateSchema) });

/** One item for each WABA that was ever told of; it is never deleted. */
export function hintStore(client: DynamoDBDocumentClient, table: string, pause: Pause = conflictPause): HintStore {
  return {
    change: async (wabaId, rule) => {
      const changed = await changeVersioned<HintState, Step>(
        {
          ...{ client, table, key: hintsKey(wabaId) },
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

import { type DynamoDBDocumentClient, GetCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import * as v from 'valibot';
import { conditionalWrite } from '../aws/conditional-write.ts';
import { hintsKey } from '../templates/model/items.ts';
import type { HintState } from './turns.ts';

/** The state of a WABA's hints, and which writing of it that is; 0 before the first. */
export interface KeptHints {
  readonly state: HintState | undefined;
  readonly version: number;
}

/** Where the hints of a WABA are kept. */
export interface HintStore {
  /** Strongly consistent. */
  keptHints(wabaId: string): Promise<KeptHints>;
  /** False, and nothing is written, when somebody else has written since. */
  replaceHints(wabaId: string, version: number, state: HintState): Promise<boolean>;
}

const TaskSchema = v.object({ templateIds: v.array(v.string()), numbers: v.boolean(), everything: v.boolean() });

const HintStateSchema = v.object({
  gathered: TaskSchema,
  reading: TaskSchema,
  listing: v.exactOptional(v.record(v.string(), v.unknown())),
  turn: v.number(),
  leaseUntilMs: v.number(),
  readyAtMs: v.number(),
  spent: v.array(v.object({ turn: v.number(), beganAtMs: v.number(), calls: v.number() })),
  wakeAtMs: v.number(),
  failures: v.number(),
});

const HintItemSchema = v.object({ state: v.pipe(v.string(), v.parseJson(), HintStateSchema), version: v.number() });

/** One item for each WABA that was ever told of; it is never deleted. */
export function hintStore(documentClient: DynamoDBDocumentClient, tableName: string): HintStore {
  return {
    keptHints: async (wabaId) => {
      const { Item } = await documentClient.send(
        new GetCommand({ TableName: tableName, Key: hintsKey(wabaId), ConsistentRead: true }),
      );
      return Item === undefined ? { state: undefined, version: 0 } : v.parse(HintItemSchema, Item);
    },
    replaceHints: async (wabaId, version, state) => {
      const { written } = await conditionalWrite(
        documentClient.send(
          new UpdateCommand({
            TableName: tableName,
            Key: hintsKey(wabaId),
            UpdateExpression: 'SET #state = :state, #version = :next',
            ConditionExpression: version === 0 ? 'attribute_not_exists(pk)' : '#version = :version',
            ExpressionAttributeNames: { '#state': 'state', '#version': 'version' },
            ExpressionAttributeValues: {
              ':state': JSON.stringify(state),
              ':next': version + 1,
              ...(version === 0 ? {} : { ':version': version }),
            },
          }),
        ),
      );
      return written;
    },
  };
}

import { type DynamoDBDocumentClient, GetCommand, PutCommand } from '@aws-sdk/lib-dynamodb';
import { conditionalWrite } from '../../aws/conditional-write.ts';
import { backoff, type Pause } from '../../aws/pause.ts';
import { paceKey } from '../items.ts';
import { type NumberPace, unknownPace } from './number-pace.ts';
import { type NumberPaces, PaceContended } from './number-paces.ts';
import { paceItemOf, paceOf } from './pace-items.ts';

/** A number that has been quiet for so long is forgotten: longer than any message that carries a turn can wait. */
const paceMemorySeconds = 30 * 86_400;

/** Writers of one number who meet: one of them is through in each round trip. */
const mostTries = 40;
const conflictPause: Pause = backoff(10, 200);

interface StoreOptions {
  readonly client: DynamoDBDocumentClient;
  readonly table: string;
  readonly nowMs: () => number;
  readonly newWriter: () => string;
  readonly pause?: Pause;
}

/**
 * Paces of numbers in the messages table: a read and a conditional write. A write whose reply is lost, and which the SDK
 * repeats, is recognised by its writer; when another write has come between, it reserves twice: some slots stay empty.
 */
export function paceStore({ client, table, nowMs, newWriter, pause = conflictPause }: StoreOptions): NumberPaces {
  const find = async (phoneNumberId: string): Promise<NumberPace> => {
    const { Item } = await client.send(
      new GetCommand({ TableName: table, Key: paceKey(phoneNumberId), ConsistentRead: true }),
    );
    return Item === undefined ? unknownPace : paceOf(Item).pace;
  };

  return {
    find,

    change: async (phoneNumberId, seen, change) => {
      const sinceMs = nowMs();
      let current = seen ?? (await find(phoneNumberId));
      for (let tries = 1; tries <= mostTries; tries += 1) {
        const changed = change(current, nowMs() - sinceMs);
        if (changed.pace === current) return changed;
        const pace = { ...changed.pace, version: current.version + 1 };
        const existing = await write(phoneNumberId, pace);
        if (existing === undefined) return { pace, result: changed.result };
        if (tries > 1) await pause(tries - 1);
        // What was in the way has changed again by the end of a pause.
        current = tries === 1 ? existing : await find(phoneNumberId);
      }
      throw new PaceContended();
    },
  };

  /** Undefined when it is written; else what is in the way. */
  async function write(phoneNumberId: string, pace: NumberPace): Promise<NumberPace | undefined> {
    const writer = newWriter();
    const expiresAtSeconds = Math.ceil(nowMs() / 1_000) + paceMemorySeconds;
    const put = await conditionalWrite(
      client.send(
        new PutCommand({
          TableName: table,
          Item: { ...paceKey(phoneNumberId), ...paceItemOf(pace, writer), expiresAtSeconds },
          // TTL may have removed what was seen: then nothing is left that could be overwritten.
          ConditionExpression: 'attribute_not_exists(pk) OR version = :seen',
          ExpressionAttributeValues: { ':seen': pace.version - 1 },
          ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
        }),
      ),
    );
    if (put.written) return undefined;
    const { pace: existing, writer: by } = paceOf(put.existing);
    return existing.version === pace.version && by === writer ? undefined : existing;
  }
}

import { DeleteCommand, PutCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import * as v from 'valibot';
import { conditionalWrite } from '../../aws/conditional-write.ts';
import type { Table } from '../../aws/table.ts';
import { Refusal } from '../../http/refusal.ts';
import { lookupCountKey, lookupKey } from '../dispatch/items.ts';
import { type Claimed, type Lookups, lookupsPerMinute, repeatLookupAfterMs } from './lookups.ts';

const minuteMs = 60_000;
/** The platform's text may be longer than an item should hold. */
const longestMessage = 1_000;

const LookupSchema = v.object({
  askerId: v.optional(v.string()),
  refusal: v.optional(
    v.object({
      code: v.picklist([
        'template_not_found',
        'template_not_sendable',
        'platform_refused',
        'platform_unreachable',
        'platform_rate_limited',
      ]),
      message: v.string(),
      retryAfter: v.optional(v.string()),
      platformCode: v.optional(v.number()),
    }),
  ),
});

const TurnsSchema = v.object({ endsAtMs: v.number() });

/**
 * Expired items count as absent. A claim is one write; an asked question costs one more for the count (two when a
 * minute begins), and one for the answer.
 */
export function lookupStore(table: Pick<Table, 'client' | 'name'>): Lookups {
  const { client } = table;
  const write = (question: string, facts: object, askedAtMs: number) => ({
    TableName: table.name,
    Item: {
      ...lookupKey(question),
      ...facts,
      askedAtMs,
      expiresAtSeconds: secondsAfter(askedAtMs, repeatLookupAfterMs),
    },
  });
  return {
    claim: async (question, { askerId, nowMs, changedAtMs }) => {
      const claim = new PutCommand({
        ...write(question, { askerId }, nowMs),
        ConditionExpression: 'attribute_not_exists(pk) OR askedAtMs <= :lapsed',
        ExpressionAttributeValues: { ':lapsed': Math.max(nowMs - repeatLookupAfterMs, changedAtMs - 1) },
        ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
      });
      const written = await conditionalWrite(client.send(claim));
      return written.written ? { state: 'ours' } : claimed(v.parse(LookupSchema, written.existing), askerId);
    },

    keep: async (question, { code, message, details }, askedAtMs) => {
      const { platformCode, headers } = details;
      const refusal = {
        code,
        message: message.slice(0, longestMessage),
        retryAfter: headers?.['retry-after'],
        platformCode,
      };
      await client.send(new PutCommand(write(question, { refusal }, askedAtMs)));
    },

    release: async (question, askerId) => {
      const removal = new DeleteCommand({
        TableName: table.name,
        Key: lookupKey(question),
        ConditionExpression: 'askerId = :askerId',
        ExpressionAttributeValues: { ':askerId': askerId },
      });
      await conditionalWrite(client.send(removal));
    },

    takeTurn: async (clientId, nowMs) => {
      // The loop tries twice: when two find the minute over, one begins the next and the other counts in it.
      for (let attempt = 0; attempt < 2; attempt += 1) {
        const counted = await countTurn(clientId, nowMs);
        if (counted === 'counted') return undefined;
        if (counted !== 'over') return counted - nowMs;
        if (await beginMinute(clientId, nowMs)) return undefined;
      }
      return minuteMs;
    },
  };

  /** Counts in the running minute. Returns `over` if it has ended, or its end if the client has used its quota. */
  async function countTurn(clientId: number, nowMs: number): Promise<'counted' | 'over' | number> {
    const count = new UpdateCommand({
      TableName: table.name,
      Key: lookupCountKey(clientId),
      UpdateExpression: 'ADD turns :one',
      ConditionExpression: 'endsAtMs > :nowMs AND turns < :most',
      ExpressionAttributeValues: { ':one': 1, ':nowMs': nowMs, ':most': lookupsPerMinute },
      ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
    });
    const write = await conditionalWrite(client.send(count));
    if (write.written) return 'counted';
    if (write.existing === undefined) return 'over';
    const { endsAtMs } = v.parse(TurnsSchema, write.existing);
    return endsAtMs > nowMs ? endsAtMs : 'over';
  }

  async function beginMinute(clientId: number, nowMs: number): Promise<boolean> {
    const endsAtMs = nowMs + minuteMs;
    const begin = new PutCommand({
      TableName: table.name,
      Item: { ...lookupCountKey(clientId), turns: 1, endsAtMs, expiresAtSeconds: secondsAfter(nowMs, minuteMs) },
      ConditionExpression: 'attribute_not_exists(pk) OR endsAtMs <= :nowMs',
      ExpressionAttributeValues: { ':nowMs': nowMs },
    });
    return (await conditionalWrite(client.send(begin))).written;
  }
}

function claimed({ askerId, refusal }: v.InferOutput<typeof LookupSchema>, mine: string): Claimed {
  // This is our own claim: the SDK repeated a write whose reply was lost.
  if (refusal === undefined) return { state: askerId === mine ? 'ours' : 'asked' };
  const { code, message, retryAfter, platformCode } = refusal;
  const headers = retryAfter === undefined ? undefined : { 'retry-after': retryAfter };
  const details = { headers, platformCode };
  return { state: 'refused', refusal: new Refusal(code, message, details) };
}

function secondsAfter(ms: number, laterMs: number): number {
  return Math.ceil((ms + laterMs) / 1_000);
}

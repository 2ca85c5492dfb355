import { type DynamoDBDocumentClient, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import * as v from 'valibot';
import { conditionalWrite } from '../../aws/conditional-write.ts';
import { workerSharesKey } from '../items.ts';
import type { WorkerDemand, WorkerDemands } from './worker-shares.ts';

const ItemSchema = v.record(v.string(), v.unknown());
const DemandSchema = v.strictTuple([v.number(), v.number()]);

const demandPrefix = 'demand#';
/** The removal names each attribute and its value: few at a time, the next run removes more. */
const mostRemoved = 20;
const demandMemorySeconds = 30 * 86_400;

/**
 * Demands in one item of the messages table, an attribute each, so that nobody's write meets another's. One write; a
 * second one when the times of some are over, which takes them out.
 */
export function workerDemandStore(client: DynamoDBDocumentClient, table: string): WorkerDemands {
  return {
    tell: async ({ clientId, phoneNumberId, perSecond, untilMs }, nowMs) => {
      const { Attributes } = await client.send(
        new UpdateCommand({
          TableName: table,
          Key: workerSharesKey,
          UpdateExpression: 'SET #own = :own, expiresAtSeconds = :expiry',
          ExpressionAttributeNames: { '#own': `${demandPrefix}${clientId}#${phoneNumberId}` },
          ExpressionAttributeValues: {
            ':own': [perSecond, untilMs],
            ':expiry': Math.ceil(nowMs / 1_000) + demandMemorySeconds,
          },
          ReturnValues: 'ALL_NEW',
        }),
      );
      const all = Object.entries(v.parse(ItemSchema, Attributes)).filter(([name]) => name.startsWith(demandPrefix));
      const demands = all.map(([name, value]) => ({ name, value, demand: demandOf(name, value) }));
      const over = demands.filter(({ demand }) => demand.untilMs <= nowMs).slice(0, mostRemoved);
      if (over.length > 0) await remove(over);
      return demands.map(({ demand }) => demand).filter((demand) => demand.untilMs > nowMs);
    },
  };

  /** Under the condition that they are as they were read: who tells anew meanwhile stays. */
  async function remove(over: readonly { readonly name: string; readonly value: unknown }[]): Promise<void> {
    await conditionalWrite(
      client.send(
        new UpdateCommand({
          TableName: table,
          Key: workerSharesKey,
          UpdateExpression: `REMOVE ${over.map((_, at) => `#n${at}`).join(', ')}`,
          ConditionExpression: over.map((_, at) => `#n${at} = :v${at}`).join(' AND '),
          ExpressionAttributeNames: Object.fromEntries(over.map(({ name }, at) => [`#n${at}`, name])),
          ExpressionAttributeValues: Object.fromEntries(over.map(({ value }, at) => [`:v${at}`, value])),
        }),
      ),
    );
  }
}

function demandOf(name: string, value: unknown): WorkerDemand {
  const [clientId, phoneNumberId = ''] = name.slice(demandPrefix.length).split('#');
  const [perSecond, untilMs] = v.parse(DemandSchema, value);
  return { clientId: Number(clientId), phoneNumberId, perSecond, untilMs };
}

import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';

export interface RequestCost {
  /** DynamoDB counts read units so. */
  readonly readUnits: number;
  /** Only writes that took effect count. */
  readonly writeUnits: number;
  readonly requests: number;
  readonly writes: number;
  /** The longest chain of requests has this length: each starts after another has ended. */
  readonly roundTrips: number;
}

export interface RequestMeter {
  /** Returns the cost since its last call; no request may be in flight. */
  taken(): RequestCost;
  /** Counts requests without an answer yet. */
  underWay(): number;
}

const nothing: RequestCost = { readUnits: 0, writeUnits: 0, requests: 0, writes: 0, roundTrips: 0 };

/** Meters every request of a client from now on. */
export function meterRequests(client: DynamoDBDocumentClient): RequestMeter {
  let cost = nothing;
  let ended = 0;
  let underWay = 0;
  client.middlewareStack.add(
    (next, context) => async (args) => {
      const place = ended + 1;
      const writes = /^(Put|Update|Delete|BatchWrite|TransactWrite)/.test(String(context['commandName']));
      Object.assign(args.input, { ReturnConsumedCapacity: 'TOTAL' });
      underWay += 1;
      const result = await next(args).finally(() => {
        underWay -= 1;
      });
      ended = Math.max(ended, place);
      const units = unitsOf(result.output);
      cost = {
        readUnits: cost.readUnits + (writes ? 0 : units),
        writeUnits: cost.writeUnits + (writes ? units : 0),
        requests: cost.requests + 1,
        writes: cost.writes + (writes ? 1 : 0),
        roundTrips: Math.max(cost.roundTrips, place),
      };
      return result;
    },
    { step: 'initialize', name: 'meterRequests', priority: 'high', tags: ['test'] },
  );
  return {
    taken: () => {
      const taken = cost;
      [cost, ended] = [nothing, 0];
      return taken;
    },
    underWay: () => underWay,
  };
}

interface Capacity {
  readonly CapacityUnits?: number;
}

function unitsOf(output: unknown): number {
  const { ConsumedCapacity } = output as { ConsumedCapacity?: Capacity | Capacity[] };
  return [ConsumedCapacity ?? []].flat().reduce((sum, { CapacityUnits = 0 }) => sum + CapacityUnits, 0);
}

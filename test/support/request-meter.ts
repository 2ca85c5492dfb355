import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';

/** The cost of a client's requests. */
export interface RequestCost {
  /** Read units as DynamoDB counts them. */
  readonly readUnits: number;
  /** Write units of the writes that took effect. */
  readonly writeUnits: number;
  readonly requests: number;
  /** The number of write requests. */
  readonly writes: number;
  /** The length of the longest chain of requests in which each starts after another has ended. */
  readonly roundTrips: number;
}

export interface RequestMeter {
  /** The cost since the last call of this; call it when no request is in flight. */
  taken(): RequestCost;
  /** Requests without an answer yet. */
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

import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import * as v from 'valibot';
import type { Pause } from '../../aws/pause.ts';
import { changeVersioned } from '../../aws/versioned-item.ts';
import { deliveryKey } from '../items.ts';
import type { DeliveryStates } from './deliver-ports.ts';
import { DeliveryStateSchema } from './delivery-state.ts';

/** A change competes with the function's other runs; a failed one is retried much later. */
const mostTries = 10;

/** Keeps the delivery state of each client in the item `DELIVERY` of the table `webhooks`, under an optimistic lock. */
export function deliveryStateStore(options: {
  readonly client: DynamoDBDocumentClient;
  readonly table: string;
  readonly pause: Pause;
  /** Each run has its own name; by default each write has one. */
  readonly newWriter?: () => string;
}): DeliveryStates {
  const { client, table, pause, newWriter } = options;
  return {
    change: async (clientId, decide) => {
      const changed = await changeVersioned(
        {
          ...{ table: { client, name: table }, key: deliveryKey(clientId) },
          stateOf: (item) => v.parse(DeliveryStateSchema, item ?? {}),
          itemOf: (state) => state,
        },
        (before) => {
          const next = decide(before);
          return { state: next ?? before, result: next !== undefined };
        },
        { mostTries, pause, newWriter },
      );
      if (changed === undefined) {
        throw new Error(`the delivery state of client ${clientId} changed under ${mostTries} tries`);
      }
      return { changed: changed.result, state: changed.state };
    },
  };
}

import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import * as v from 'valibot';
import type { Pause } from '../../aws/pause.ts';
import { runStateStore } from '../../aws/run-state-store.ts';
import { deliveryKey } from '../items.ts';
import type { DeliveryStates } from './deliver-ports.ts';
import { DeliveryStateSchema } from './delivery-state.ts';

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
    change: (clientId, decide) =>
      runStateStore(
        {
          ...{ table: { client, name: table }, key: deliveryKey(clientId) },
          stateOf: (item) => v.parse(DeliveryStateSchema, item ?? {}),
          itemOf: (state) => state,
        },
        { pause, newWriter },
      ).change(decide),
  };
}

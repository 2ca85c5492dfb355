import { type DynamoDBDocumentClient, GetCommand, PutCommand } from '@aws-sdk/lib-dynamodb';
import * as v from 'valibot';
import { conditionalWrite } from '../../aws/conditional-write.ts';
import type { Pause } from '../../aws/pause.ts';
import { present } from '../../keys/present.ts';
import { deliveryKey } from '../items.ts';
import type { DeliveryStates } from './deliver-ports.ts';
import { DeliveryStateSchema } from './delivery-state.ts';

/** Of one change, which the other runs of the function overtake at a rush: what is given up there comes again much later. */
const tries = 10;
const VersionSchema = v.optional(v.object({ version: v.number() }), { version: 0 });

/** The state of delivery of each client: the item `DELIVERY` of the table `webhooks`, changed one version after another. */
export function deliveryStateStore(options: {
  readonly client: DynamoDBDocumentClient;
  readonly table: string;
  readonly pause: Pause;
}): DeliveryStates {
  const { client, table, pause } = options;
  return {
    change: async (clientId, decide) => {
      const key = deliveryKey(clientId);
      for (let attempt = 0; attempt < tries; attempt++) {
        if (attempt > 0) await pause(attempt);
        const { Item } = await client.send(new GetCommand({ TableName: table, Key: key, ConsistentRead: true }));
        const state = v.parse(DeliveryStateSchema, Item ?? {});
        const { version } = v.parse(VersionSchema, Item);
        const next = decide(state);
        if (next === undefined) return { changed: false, state };
        const put = new PutCommand({
          TableName: table,
          Item: { ...key, ...next, version: version + 1 },
          ConditionExpression: Item === undefined ? 'attribute_not_exists(pk)' : 'version = :version',
          ...present({ ExpressionAttributeValues: Item && { ':version': version } }),
        });
        if ((await conditionalWrite(client.send(put))).written) return { changed: true, state: next };
      }
      throw new Error(`the delivery state of client ${clientId} changed under ${tries} tries`);
    },
  };
}

import * as v from 'valibot';
import { type DeliveryState, DeliveryStateSchema } from '../../../../lib/webhooks/delivery/delivery-state.ts';
import { DeliveryWorld, makeEvent } from '../../../support/delivery-world.ts';

export const client = 1001;
export const other = 1002;
export const event = makeEvent(client);

export function subscribed(...clientIds: readonly number[]): DeliveryWorld {
  const world = new DeliveryWorld();
  for (const clientId of clientIds.length === 0 ? [client] : clientIds) world.subscribe(clientId);
  return world;
}

/** The receiver has answered once. */
export const well: DeliveryState = { ...v.parse(DeliveryStateSchema, {}), lastSuccessMs: 1 };

/** Clients get this event only if they ask for its kind. */
export const readMessage = {
  ...{
    dispatch_id: 'dispatch',
    message_id: 'dispatch-0',
    did: '5491100000001',
    accepted_at: '2026-11-21T04:00:00.000Z',
  },
  template: { name: 'order_update', language: 'en_US' },
};

export const events = (clientId: number, count: number) =>
  Array.from({ length: count }, (_, number) => makeEvent(clientId, number));

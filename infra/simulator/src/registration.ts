import * as v from 'valibot';
import { holdKinds } from './holds.ts';
import { parsedParameters } from './parameters.ts';
import type { PlatformRequest } from './platform-request.ts';
import { json, type Reply } from './reply.ts';
import type { World } from './state.ts';
import type { PhoneNumber } from './wabas.ts';

const RegistrationSchema = v.object({
  messaging_product: v.literal('whatsapp'),
  pin: v.pipe(v.string(), v.regex(/^\d{6}$/)),
});

const unregistered = 133010;
const liftedByRegistration: readonly unknown[] = [unregistered, 131045];

/**
 * Answers `POST /{phone_number_id}/register` (platform reference, 6.4): ends the holds 133010 and 131045; other holds
 * stay.
 */
export function registerNumber(world: World, number: PhoneNumber, request: PlatformRequest): Reply {
  parsedParameters(RegistrationSchema, request.parameters);
  for (const hold of world.holds.on(number.id)) {
    if (liftedByRegistration.includes(hold.kind.code)) world.holds.end(hold, world.clock.nowMs());
  }
  return json({ success: true });
}

/** Answers `POST /{phone_number_id}/deregister`: holds the number until it is registered. */
export function deregisterNumber(world: World, number: PhoneNumber): Reply {
  const kind = holdKinds.find(({ code }) => code === unregistered);
  if (kind !== undefined) world.holds.open({ nodeId: number.id, kind }, world.clock.nowMs());
  return json({ success: true });
}

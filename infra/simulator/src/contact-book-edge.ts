import * as v from 'valibot';
import { parsedParameters } from './parameters.ts';
import { userIdForm } from './people.ts';
import type { PlatformRequest } from './platform-request.ts';
import { json, type Reply } from './reply.ts';
import type { World } from './state.ts';
import { type PhoneNumber, portfolioIdOf } from './wabas.ts';

const ContactSchema = v.object({
  messaging_product: v.literal('whatsapp'),
  bsuid: v.pipe(v.string(), v.regex(userIdForm)),
});

/**
 * Answers `DELETE /{phone_number_id}/contact_book`: removes a person from the portfolio's contact book (platform
 * reference, 4.5).
 */
export function forgetContact(world: World, number: PhoneNumber, request: PlatformRequest): Reply {
  const { bsuid } = parsedParameters(ContactSchema, request.parameters);
  const waba = world.wabas.get(number.wabaId);
  const portfolioId = waba === undefined ? '' : portfolioIdOf(waba);
  const viewer = { portfolioId, numberId: number.id };
  const { person } = world.people.withUserId(viewer, bsuid, world.clock.nowMs());
  const deleted = world.people.contacts.forget(portfolioId, person.key);
  return json({ messaging_product: 'whatsapp', success: true, deleted });
}

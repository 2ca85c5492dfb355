import { messagingError } from '../errors.ts';
import type { Hold } from '../holds.ts';
import type { MessageContent } from '../logs.ts';
import { countryOf } from '../people.ts';
import type { World } from '../state.ts';
import type { PhoneNumber } from '../wabas.ts';
import type { CourseChanges } from '../webhooks/receipt-rules.ts';
import type { Course } from '../webhooks/receipts.ts';
import type { MessageBody } from './message-body.ts';
import type { Recipient } from './recipient.ts';
import { mediaIdsIn } from './sent-media.ts';
import unlimitedCountries from './unlimited-countries.json' with { type: 'json' };
import areaCodes from './us-area-codes.json' with { type: 'json' };

export interface CheckedSend {
  readonly number: PhoneNumber;
  readonly portfolioId: string;
  readonly recipient: Recipient;
  readonly content: MessageContent;
  readonly body: MessageBody;
  readonly holds: readonly Hold[];
}

/** An obstacle keeps a message from arriving; a webhook tells it, or the reply when `atOnce`. */
interface Obstacle {
  readonly code: number;
  readonly atOnce?: boolean;
}

/** The platform does not tell that a person blocks the number: messages stay at `sent`. */
const courseOfBlocked = { delivered_after_ms: null, read_after_ms: null };

/** Returns the course of a message as person and portfolio decide. Throws when the obstacle refuses at once. */
export function usualFate(world: World, send: CheckedSend): CourseChanges {
  const obstacle = obstacleOf(world, send);
  if (obstacle?.atOnce === true) throw messagingError(obstacle.code);
  return {
    ...(world.blocked.has(send.recipient.key) ? courseOfBlocked : {}),
    ...(obstacle === undefined ? {} : { fail: obstacle.code }),
  };
}

/** Looks for obstacles in order of precedence, widest first, as for holds. */
function obstacleOf(world: World, send: CheckedSend): Obstacle | undefined {
  const { recipient, holds } = send;
  const held = holds.find(({ isLater }) => isLater === true)?.kind.code;
  if (typeof held === 'number') return { code: held };
  if (recipient.unreachable !== undefined) return { code: 131026, atOnce: recipient.unreachable === 'refused' };
  return send.content.kind === 'text'
    ? obstacleOfText(world, send)
    : (obstacleOfMedia(world, send) ?? obstacleOfMarketing(world, send) ?? obstacleOfLimit(world, send));
}

/** A free-form message needs an open window, and a thread that no other responder owns. */
function obstacleOfText(world: World, { number, recipient }: CheckedSend): Obstacle | undefined {
  const nowMs = world.clock.nowMs();
  if (world.threads.isOwned(number.id, recipient.key, nowMs)) return { code: 131070, atOnce: true };
  return world.people.isWindowOpen(number.id, recipient.key, nowMs) ? undefined : { code: 131047 };
}

/** The platform fetches media only after it accepts the message. */
function obstacleOfMedia(world: World, { body }: CheckedSend): Obstacle | undefined {
  const lacks = mediaIdsIn(body.template?.components ?? []).some(
    (id) => world.media.get(id, world.clock.nowMs()) === undefined,
  );
  return lacks ? { code: 131053 } : undefined;
}

function obstacleOfMarketing(world: World, send: CheckedSend): Obstacle | undefined {
  const { number, recipient } = send;
  if (!isMarketing(send)) return undefined;
  const nowMs = world.clock.nowMs();
  const stop = world.preferences.stopOf(number.id, recipient.userId, nowMs);
  if (stop !== undefined) return { code: 131050, atOnce: stop === 'refused' };
  if (isOfUnitedStates(recipient.key)) return { code: 131049 };
  const isTooMuch = isCapped(world, send) && world.marketingCaps.refuses(number.wabaId, recipient.key, nowMs);
  return isTooMuch ? { code: 131049, atOnce: true } : undefined;
}

function obstacleOfLimit(world: World, { number, portfolioId, recipient }: CheckedSend): Obstacle | undefined {
  const nowMs = world.clock.nowMs();
  if (world.people.isWindowOpen(number.id, recipient.key, nowMs)) return undefined;
  const limit = world.limits.brokenBy(portfolioId, recipient.key, nowMs);
  return limit && { code: limit.code, atOnce: limit.beyond === 'refused' };
}

/** Records a person's marketing cap when the message fails with it. */
export function noteCapped(world: World, send: CheckedSend, { fail }: Course): void {
  const { number, recipient } = send;
  if (fail !== 131049 || !isMarketing(send) || !isCapped(world, send)) return;
  world.marketingCaps.capped(number.wabaId, recipient.key, world.clock.nowMs());
}

/** Caps do not apply in some countries, nor inside an open window (6.5). */
function isCapped(world: World, { number, recipient }: CheckedSend): boolean {
  const nowMs = world.clock.nowMs();
  const countries = [number.digits, recipient.key].map((key) => (/^\d/.test(key) ? countryOf(key) : key.slice(0, 2)));
  if (countries.some((country) => unlimitedCountries.includes(country))) return false;
  return !world.people.isWindowOpen(number.id, recipient.key, nowMs);
}

export function isMarketing({ content }: Pick<CheckedSend, 'content'>): boolean {
  return content.kind === 'template' && content.template.fields.category === 'MARKETING';
}

const ofUnitedStates = new Set(Object.values(areaCodes).flat());

/** Canada and the Caribbean share the prefix, so only the area code tells the United States. */
export function isOfUnitedStates(digits: string): boolean {
  return /^1\d{10}$/.test(digits) && ofUnitedStates.has(digits.slice(1, 4));
}

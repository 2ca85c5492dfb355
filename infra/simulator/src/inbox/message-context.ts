import { refusedId } from '../refused-log.ts';
import type { World } from '../state.ts';
import { portfolioIdOf } from '../wabas.ts';

/** The service marks a message with its dispatch id and its place in the dispatch. */
const markOfService = /^([0-9A-Z]{26})-\d{1,5}$/;
const mostTries = 50;

/** Returns the dispatch id of a message; callback data in another format is returned unchanged. */
export function dispatchOf(callbackData: string | undefined): string {
  return callbackData?.replace(markOfService, '$1') ?? '';
}

interface Sent {
  readonly to: string;
  readonly numberId: string;
  readonly callbackData: string | undefined;
  readonly codes: readonly (number | null)[];
}

/** Returns what a send belongs to: sender, dispatch, other tries, holds and blocks. */
export function contextOf(world: World, sent: Sent) {
  const { to, numberId, callbackData } = sent;
  const number = world.numbers.get(numberId);
  const dispatchId = callbackData === undefined ? undefined : markOfService.exec(callbackData)?.[1];
  return {
    from: number?.fields['display_phone_number'] ?? numberId,
    from_name: number?.fields['verified_name'] ?? '',
    callback_data: callbackData ?? null,
    // The service names a sending number by its digits.
    dispatch: dispatchId === undefined || number === undefined ? null : { did: number.digits, id: dispatchId },
    tries: callbackData === undefined ? [] : triesOf(world, callbackData),
    holds: holdsBehind(world, sent),
    blocked: world.blocked.has(to),
    stopped: world.preferences
      .all(world.clock.nowMs())
      .some((stop) => stop.phone_number_id === numberId && stop.to === to),
  };
}

/** Returns all sends with the same mark, oldest first: retries of the service, or duplicates. */
function triesOf(world: World, callbackData: string) {
  const accepted = world.messages
    .marked(callbackData)
    .map(({ place, message, accepted: { acceptedMs } }) => ({ place, id: message.id, at_ms: acceptedMs }));
  const refused = world.messages.refused
    .find((send) => send.callbackData === callbackData)
    .map((send) => ({
      ...{ place: send.place, id: refusedId(send), at_ms: send.receivedMs },
      refusal: { code: send.refusal.code, http_status: send.refusal.httpStatus },
    }));
  return [...accepted, ...refused].sort((one, other) => one.place - other.place).slice(-mostTries);
}

/** Returns holds and reviews in force with one of the codes; the control call `remove` ends one. */
function holdsBehind(world: World, { numberId, codes }: Sent) {
  const number = world.numbers.get(numberId);
  const waba = world.wabas.get(number?.wabaId ?? '');
  if (number === undefined || waba === undefined) return [];
  const nodes = [
    { of: 'WABA', path: 'wabas', id: waba.id },
    { of: 'number', path: 'numbers', id: number.id },
  ];
  const held = nodes.flatMap(({ of, path, id }) =>
    world.holds
      .on(id)
      .filter(({ kind }) => typeof kind.code === 'number' && codes.includes(kind.code))
      .map(({ kind: { code } }) => ({ of, id, code, remove: `${path}/${id}/holds?code=${code}` })),
  );
  const id = portfolioIdOf(waba);
  const code = world.pacing.reviewOf(id);
  const isReviewed = code !== undefined && codes.includes(code);
  return isReviewed ? [...held, { of: 'business', id, code, remove: `businesses/${id}/pacing` }] : held;
}

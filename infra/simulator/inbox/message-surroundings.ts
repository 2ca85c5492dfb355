import { refusedId } from '../refused-log.ts';
import type { World } from '../state.ts';
import { portfolioIdOf } from '../wabas.ts';

/** The service marks each message with its dispatch and its place in it. */
const markOfService = /^([0-9A-Z]{26})-\d{1,5}$/;
/** More tries of one message than that are not told. */
const mostTries = 50;

/** The dispatch of a message; whatever else was sent along is told as it is. */
export function jobOf(callbackData: string | undefined): string {
  return callbackData?.replace(markOfService, '$1') ?? '';
}

interface Sent {
  readonly to: string;
  readonly numberId: string;
  readonly callbackData: string | undefined;
  /** What it was refused or has failed with. */
  readonly codes: readonly (number | null)[];
}

/** What a send belongs to, accepted or refused: its sender, its dispatch, its person, and what still stands in its way. */
export function aroundOf(world: World, sent: Sent) {
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

/** Every send with the same mark, oldest first: what the service has tried again, or has sent twice. */
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

/** What is in force that refuses or fails messages with one of the codes; `remove`: the control call that ends it. */
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

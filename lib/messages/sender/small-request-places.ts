import { holdableOf } from '../holds/held-dispatch.ts';
import { holdsOn, isOutdated, noHolds } from '../holds/hold.ts';
import { isAnsweringSlowly } from '../pace/known-pace.ts';
import { lateness } from '../send/deadlines.ts';
import type { RunProcess } from '../send/sending-ports.ts';
import type { NumberSight } from './number-sight-store.ts';
import { everyMsOf, type Share, sharedOut } from './places.ts';
import type { Places } from './places-store.ts';
import type { SmallRequestInHand } from './small-request-in-hand.ts';

interface Wanting {
  readonly hand: SmallRequestInHand;
  readonly size: number;
}

interface Standing extends NumberSight {
  /** The platform as a whole is down. */
  readonly isDown: boolean;
  readonly limitPerSecond: number;
}

/**
 * Takes the places of a number's requests by one write, and returns those that have theirs (D44): none while the
 * platform or the number is silent, or its messages are held; beside a sender one-time codes alone.
 */
export async function placesFor<Request extends Wanting>(
  requests: readonly Request[],
  standing: Standing,
  { places, process }: { readonly places: Pick<Places, 'take'>; readonly process: Pick<RunProcess, 'nowMs'> },
): Promise<ReadonlyMap<Request, readonly number[]>> {
  const nowMs = process.nowMs();
  // What ends without a call needs none.
  const late = requests.filter(({ hand }) => lateness({ ...hand.facts, attempt: 0 }, nowMs) !== undefined);
  const ended = late.map((request) => [request, []] as const);
  const { pace, isDown, isSending, limitPerSecond } = standing;
  if (isDown || isAnsweringSlowly(pace, nowMs)) return new Map(ended);
  const share: Share = isSending ? 'tenth' : 'free';
  const wanting = requests
    .filter((request) => !late.includes(request) && !isHeld(request, standing))
    .filter(({ hand }) => !isSending || isCode(hand))
    .toSorted((one, other) => Number(isCode(other.hand)) - Number(isCode(one.hand)));
  const [first] = wanting;
  if (first === undefined) return new Map(ended);
  const count = wanting.reduce((sum, { size }) => sum + size, 0);
  const everyMs = everyMsOf(share, limitPerSecond, pace, nowMs);
  const taken = await places.take(first.hand.facts.phoneNumberId, share, { count, everyMs, nowMs });
  return new Map([...ended, ...sharedOut(wanting, taken)]);
}

function isCode({ request }: SmallRequestInHand): boolean {
  return request.head.urgent === true;
}

/** A review since acceptance holds it too: its sender judges the template again (D46, D56). */
function isHeld({ hand: { facts } }: Wanting, { holds }: NumberSight): boolean {
  const seen = holds.get(facts.wabaId) ?? noHolds;
  return holdsOn(seen, holdableOf(facts)).length > 0 || isOutdated(seen, holdableOf(facts), facts.acceptedAtMs);
}

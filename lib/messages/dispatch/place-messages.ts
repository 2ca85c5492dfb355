import { nameOf } from '../../observe/name-of.ts';
import type { DispatchMessage } from '../job.ts';
import { deliveryLeadMs, withLongerLead } from '../pace/delivery-lead.ts';
import { withBehind } from '../pace/keeping-up.ts';
import type { NumberPace } from '../pace/number-pace.ts';
import { reserveAll } from '../pace/reserve.ts';
import { slotMsOf, type Turn } from '../pace/schedule.ts';
import { reserveUrgent } from '../pace/urgent.ts';
import type { DispatchPorts } from './dispatch-ports.ts';
import {
  behindByMs,
  cameLate,
  claimLeadMs,
  claimTimes,
  type Look,
  type Placed,
  placedAt,
  placedLate,
  placedWithoutSlot,
  slotAhead,
  trustedBeforeMs,
  usableUntilMs,
} from './slots.ts';

type Ports = Pick<DispatchPorts, 'paces' | 'tenths' | 'nowMs' | 'pause' | 'log'>;

/** A message without its place yet. */
interface Waiting {
  message: DispatchMessage;
  missedSlots: number;
  slotMs: number | undefined;
  untilMs: number;
  readonly place: (placed: Placed) => void;
}

/** Of messages that were queued without a turn: those of requests with few recipients. */
const commonLane = '*';

/** Looks at the schedule of one number in one run: some while slots are far, some while writes are slow. */
const mostLooks = 10;

/**
 * Gives each message of a batch its place in time, in the order given: one read for a number, one write when some of its
 * messages have no slot or one that has passed, and another read for those whose slot others may still move. Each is
 * told as soon as it is known; none of the promises rejects.
 */
export function placeMessages(messages: readonly DispatchMessage[], ports: Ports): Promise<Placed>[] {
  const places = messages.map((message) => {
    const { promise, resolve } = Promise.withResolvers<Placed>();
    const waiting: Waiting = {
      message,
      missedSlots: message.missedSlots ?? 0,
      slotMs: undefined,
      untilMs: 0,
      place: resolve,
    };
    return { waiting, promise };
  });
  const numbers = Map.groupBy(
    places.map(({ waiting }) => waiting),
    ({ message }) => message.phoneNumberId,
  );
  for (const [phoneNumberId, ofNumber] of numbers) {
    placeOfNumber(phoneNumberId, ofNumber, ports).catch((error: unknown) => {
      ports.log('dispatch.pace_failed', { count: ofNumber.length, error: nameOf(error) });
      const nowMs = ports.nowMs();
      for (const { message, place } of ofNumber) {
        place(placedLate(message, nowMs) ?? { kind: 'unplaced', message });
      }
    });
  }
  return places.map(({ promise }) => promise);
}

async function placeOfNumber(phoneNumberId: string, all: readonly Waiting[], ports: Ports): Promise<void> {
  let open = all;
  for (let look = 1; open.length > 0; look += 1) {
    if (look > mostLooks) throw new Error('no slot of the number was reached in time');
    const readAtMs = ports.nowMs();
    let pace = await ports.paces.find(phoneNumberId);
    open = open.filter((waiting) => !told(waiting, placedWithoutSlot(waiting.message, pace, ports.nowMs())));
    pace = await reserveMissing(phoneNumberId, { open, pace, readAtMs }, ports);
    const nowMs = ports.nowMs();
    const known = open.map((waiting) => knownPlace(waiting, { pace, readAtMs, nowMs }));
    placeTogether(known.filter(({ found }) => found === 'trusted').map(({ waiting }) => waiting));
    open = known
      .filter(({ waiting, found }) => found !== 'trusted' && !told(waiting, found))
      .map(({ waiting }) => waiting);
    // Those that have just missed a slot look again at once.
    const waitMs = Math.min(...open.map(({ slotMs }) => (slotMs === undefined ? 0 : slotMs - trustedBeforeMs - nowMs)));
    if (open.length > 0 && waitMs > 0) await ports.pause(waitMs);
  }
}

/** Tells a message its place, where there is one. */
function told({ place }: Waiting, placed: Placed | undefined): boolean {
  if (placed !== undefined) place(placed);
  return placed !== undefined;
}

/** With the same lead, so that those with close slots are claimed at the same time. */
function placeTogether(trusted: readonly Waiting[]): void {
  const slots = trusted.map(({ slotMs = 0, missedSlots }) => ({ slotMs, leadMs: claimLeadMs(missedSlots) }));
  const claimAtMs = claimTimes(slots);
  for (const [index, { message, slotMs = 0, untilMs, place }] of trusted.entries()) {
    place({ kind: 'slot', message, slotMs, untilMs, claimAtMs: claimAtMs[index] ?? slotMs });
  }
}

function knownPlace(waiting: Waiting, { pace, readAtMs, nowMs }: Look & { readonly nowMs: number }) {
  const { message } = waiting;
  const reservedMs = waiting.slotMs;
  const slotMs = message.turn === undefined ? reservedMs : slotMsOf(pace.schedule, message.turn);
  const untilMs = slotMs === undefined ? 0 : usableUntilMs(message, slotMs, pace, nowMs);
  if (slotMs === undefined || nowMs > untilMs) {
    waiting.missedSlots += 1;
    waiting.slotMs = undefined;
    return { waiting, found: undefined };
  }
  waiting.slotMs = slotMs;
  waiting.untilMs = untilMs;
  // A slot beside the schedule is nobody else's.
  const found = message.turn === undefined ? 'trusted' : placedAt(message, { slotMs, pace, readAtMs, nowMs });
  return { waiting, found } as const;
}

/** Slots for those that have none ahead: one write for all jobs of the number; another for its one-time codes, by client. */
async function reserveMissing(
  phoneNumberId: string,
  { open, pace, readAtMs }: Look & { readonly open: readonly Waiting[] },
  ports: Ports,
): Promise<NumberPace> {
  const nowMs = ports.nowMs();
  const missing = open.filter(({ message }) => slotAhead(message, pace, nowMs) === undefined);
  if (missing.length === 0) return pace;
  const limitPerSecond = Math.min(...missing.map(({ message }) => message.limitPerSecond));
  // Who has missed slots asks for later ones, with the time to claim before them.
  const missedSlots = Math.max(...missing.map((waiting) => waiting.missedSlots));
  const fromMs = readAtMs + (missedSlots === 0 ? 0 : claimLeadMs(missedSlots));
  const number = { phoneNumberId, limitPerSecond };
  const [urgent, bulk] = [true, false].map((is) => missing.filter(({ message }) => (message.urgent ?? false) === is));
  let latest = pace;
  for (const [clientId, codes] of Map.groupBy(urgent ?? [], ({ message }) => message.clientId)) {
    const wanted = { ...number, clientId, count: codes.length, seen: latest };
    const given = await reserveUrgent(ports, wanted, fromMs);
    latest = given.pace;
    for (const [index, waiting] of codes.entries()) giveSlot(waiting, given.slots[index]);
  }
  if (bulk === undefined || bulk.length === 0) return latest;
  return await reserveInLanes(bulk, { ...number, seen: latest, fromMs, nowMs }, ports);
}

interface Reservation {
  readonly phoneNumberId: string;
  readonly limitPerSecond: number;
  readonly seen: NumberPace;
  /** No slot before. */
  readonly fromMs: number;
  readonly nowMs: number;
}

/** Slots in the schedule, behind those of their lanes; and in the same write, what the number learns of those it had. */
async function reserveInLanes(
  bulk: readonly Waiting[],
  { fromMs, nowMs, ...number }: Reservation,
  ports: Ports,
): Promise<NumberPace> {
  const lanes = [...Map.groupBy(bulk, ({ message }) => `${message.clientId} ${laneOf(message)}`).values()];
  const wanted = lanes.map((lane) => ({ ...laneNameOf(lane), count: lane.length }));
  const learn = learningOf(bulk, { pace: number.seen, nowMs }, number.limitPerSecond);
  let before = number.seen;
  const learning = (known: NumberPace, atMs: number) => {
    before = known;
    return learn(known, atMs);
  };
  const { firstPositions, pace } = await reserveAll(ports.paces, { ...number, wanted, learning }, fromMs);
  if (pace.kept !== undefined && pace.kept !== before.kept) {
    const { clientId, jobId } = bulk[0]?.message ?? {};
    ports.log('dispatch.workers_slow', { clientId, jobId, count: Math.round(pace.kept.perSecond) });
  }
  for (const [index, lane] of lanes.entries()) {
    for (const [at, waiting] of lane.entries()) {
      giveSlot(waiting, { turn: { ...laneNameOf(lane), position: (firstPositions[index] ?? 0) + at } });
    }
  }
  return pace;
}

/** What the number learns of those that need another slot, in the write that gives it. */
function learningOf(
  missing: readonly Waiting[],
  { pace, nowMs }: { readonly pace: NumberPace; readonly nowMs: number },
  limitPerSecond: number,
): (known: NumberPace, atMs: number) => NumberPace {
  const messages = missing.map(({ message }) => message);
  const late = messages.some((message) => cameLate(message, pace, nowMs));
  const byMs = behindByMs(messages, pace, nowMs);
  return (known, atMs) => {
    const led = late ? withLongerLead(known) : known;
    // Before the workers are thought slow, messages are given more time to come.
    if (byMs.length === 0 || deliveryLeadMs(led) > deliveryLeadMs(known)) return led;
    return withBehind(led, { count: byMs.length, byMs: Math.min(...byMs), limitPerSecond, nowMs: atMs });
  };
}

function giveSlot(waiting: Waiting, slot: { readonly turn?: Turn; readonly slotMs?: number } | undefined): void {
  const { turn: _passed, ...message } = waiting.message;
  waiting.message = slot?.turn === undefined ? message : { ...message, turn: slot.turn };
  waiting.slotMs = slot?.slotMs;
}

function laneOf({ turn }: DispatchMessage): string {
  return turn?.lane ?? commonLane;
}

function laneNameOf([first]: readonly Waiting[]) {
  if (first === undefined) throw new Error('a lane of nobody');
  return { clientId: first.message.clientId, lane: laneOf(first.message) };
}

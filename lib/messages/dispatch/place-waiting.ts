import { nameOf } from '../../observe/name-of.ts';
import type { DispatchMessage } from '../job.ts';
import { byJobState, type JobState, settlementOf } from '../job-state.ts';
import type { DispatchPorts } from './dispatch-ports.ts';
import { placeMessages } from './place-messages.ts';
import type { Placed } from './slots.ts';

/**
 * As `placeMessages`, but what waited for its template takes a slot only when its job goes on (D46): thousands that look
 * again and again would otherwise take the slots of whoever shares the number. What it sees decides nothing more: a message
 * that is placed is claimed, and the state read again.
 */
export function placeUnlessParked(messages: readonly DispatchMessage[], ports: DispatchPorts): Promise<Placed>[] {
  if (!messages.some(hasWaited)) return placeMessages(messages, ports);
  const places = placesOf(messages, ports);
  return messages.map(async (message, at): Promise<Placed> => {
    const place = (await places)[at];
    return place === undefined ? { kind: 'unplaced', message } : await place;
  });
}

function hasWaited({ hasWaited: did }: DispatchMessage): boolean {
  return did === true;
}

async function placesOf(
  messages: readonly DispatchMessage[],
  ports: DispatchPorts,
): Promise<readonly (Placed | Promise<Placed> | undefined)[]> {
  const states = await statesOf(messages.filter(hasWaited), ports);
  const nowMs = ports.nowMs();
  const held = messages.map((message) => heldPlace(message, states.get(message.jobId) ?? {}, nowMs));
  const free = placeMessages(
    messages.filter((_, at) => held[at] === undefined),
    ports,
  ).values();
  return held.map((place) => place ?? free.next().value);
}

async function statesOf(
  waited: readonly DispatchMessage[],
  ports: DispatchPorts,
): Promise<ReadonlyMap<string, JobState>> {
  try {
    return await ports.jobStates.of(waited.map(({ jobId }) => jobId));
  } catch (error) {
    ports.log('dispatch.pace_failed', { count: waited.length, error: nameOf(error) });
    return new Map();
  }
}

/** Undefined for what needs a slot. What its job has ended needs none: it is claimed settled, as the stop says. */
function heldPlace(message: DispatchMessage, state: JobState, nowMs: number): Placed | undefined {
  if (!hasWaited(message)) return undefined;
  if (state.stop !== undefined) return { kind: 'stopped', message, settlement: settlementOf(state.stop) };
  const by = byJobState(state, message, nowMs);
  return by.kind === 'wait' ? { kind: 'later', message, delaySeconds: by.delaySeconds } : undefined;
}

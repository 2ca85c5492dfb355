import type { DeliverPorts } from './deliver-ports.ts';
import {
  type DeliveryState,
  leaseForFresh,
  leaseMs,
  leaseOrSignal,
  messagesOfHolder,
  postTimeoutMs,
  type Round,
  type Run,
  roundEnded,
} from './delivery-state.ts';
import type { Pending } from './pending.ts';
import { type Holder, postBacklog, postFresh } from './post-rounds.ts';
import { allEnded, type Offer } from './posts.ts';
import { wakeDelaySeconds } from './retry.ts';

/** A post may still need this long after its start: its time-out, and the write of its result. */
const endingMs = postTimeoutMs + 10_000;
/** A holder starts no post that could outlast its lease. */
const startMs = leaseMs - postTimeoutMs - 2_000;
/** Each try but the first sends a wake. More than one is needed only if noting it took longer than its delay. */
const closingTries = 4;

export interface ClientBatch {
  readonly clientId: number;
  readonly messages: readonly string[];
  readonly fresh: readonly Pending[];
  readonly isWoken: boolean;
  /** The run calls this for each fresh event that needs no further run. */
  readonly done: (pending: Pending) => void;
}

interface Visitor extends Holder, Run {
  readonly isWoken: boolean;
  readonly version: number | undefined;
}

/**
 * Posts or lists a client's fresh events; as holder it works off due ones. On return, waiting events have a holder or a
 * wake, and the returned messages need redelivery. On a throw, all events not `done` need it.
 */
export async function deliverToClient(arrivals: ClientBatch, ports: DeliverPorts): Promise<readonly string[]> {
  const { clientId, fresh, isWoken } = arrivals;
  const receiver = await ports.receivers.find(clientId);
  // Without a receiver nothing waits; an operator can send recorded events again.
  if (receiver === undefined && !isWoken) return [];
  // An unwanted event stays recorded, as it does without a receiver.
  const offers = fresh.flatMap((pending) => (receiver?.wanted.has(pending.event.type) ? { pending, receiver } : []));
  const startedMs = ports.nowMs();
  const hasTime = () => ports.nowMs() - startedMs <= startMs && ports.remainingMs() >= endingMs;
  const visitor = { ...arrivals, owner: ports.newOwner(), hasTime, version: receiver?.version };
  const { round: first, kept } = await firstRound(visitor, offers, ports);
  for (let round = first; round !== undefined; ) {
    const state = await closeRound(visitor, round, ports);
    round = isHolder(visitor, state) ? await postBacklog(visitor, state, ports) : undefined;
  }
  return kept;
}

function isHolder({ owner }: Visitor, { lease }: DeliveryState): boolean {
  return lease?.owner === owner;
}

interface Beginning {
  /** The round is absent when another run has the lease, or there is nothing to do now. */
  readonly round?: Round;
  readonly kept: readonly string[];
}

async function firstRound(visitor: Visitor, offers: readonly Offer[], ports: DeliverPorts): Promise<Beginning> {
  const { clientId, isWoken, version } = visitor;
  const hasPut = offers.length > 0;
  if (hasPut) {
    const { changed, state } = await ports.states.change(clientId, (before) =>
      leaseForFresh(before, visitor, ports.nowMs()),
    );
    if (changed) return { round: await postFresh(visitor, { offers, state }, ports), kept: [] };
    await allEnded(offers.map(({ pending }) => ports.list.put(pending)));
  }
  const { changed, state } = await ports.states.change(clientId, (before) =>
    leaseOrSignal(before, { run: visitor, nowMs: ports.nowMs(), isWoken, hasPut, version }),
  );
  if (changed && isHolder(visitor, state)) return { round: await postBacklog(visitor, state, ports), kept: [] };
  return { kept: messagesOfHolder(state, visitor, ports.nowMs()) };
}

/**
 * Keeps the lease for another round, or leaves after sending a wake for waiting events. Returns the state after that.
 */
async function closeRound({ clientId, owner, hasTime }: Visitor, round: Round, ports: DeliverPorts) {
  let sentMs: number | undefined;
  // A write may land without a reply, so the call that it unset is remembered here.
  let isCalled = false;
  for (let attempt = 0; attempt < closingTries; attempt++) {
    const asked: { wakeMs?: number | undefined } = {};
    const { changed, state } = await ports.states.change(clientId, (before) => {
      isCalled ||= before.isCalled;
      const closing = { owner, nowMs: ports.nowMs(), round, mayGoOn: hasTime(), sentMs };
      const next = roundEnded({ ...before, isCalled }, closing);
      if (next === undefined) throw new Error(`another run has taken over client ${clientId}`);
      asked.wakeMs = next.wakeMs;
      return next.wakeMs === undefined ? next.state : undefined;
    });
    if (changed || asked.wakeMs === undefined) return state;
    const nowMs = ports.nowMs();
    const delaySeconds = wakeDelaySeconds(asked.wakeMs, nowMs);
    await ports.queue.sendLater(clientId, delaySeconds);
    sentMs = nowMs + delaySeconds * 1_000;
  }
  throw new Error(`no wake could be noted for client ${clientId} before its time`);
}

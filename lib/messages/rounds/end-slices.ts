import { count } from '../../observe/metrics.ts';
import type { EventSink } from '../../webhooks/event.ts';
import { outcomeEvent } from '../dispatch/message-event.ts';
import { aboutJob, type Recipient } from '../job.ts';
import type { JobStop } from '../job-state.ts';
import { type Outcome, placeInSlice, type Slice, sliceOf, sliceSize } from '../slices/slice.ts';
import type { Slices } from '../slices/slices.ts';
import type { JobRounds, StoredJob } from './job-rounds.ts';
import { sideBySide } from './side-by-side.ts';

export interface EndPorts {
  readonly slices: Pick<Slices, 'endUncalled'>;
  readonly jobs: Pick<JobRounds, 'recipientsFrom'>;
  readonly events: EventSink;
  readonly nowMs: () => number;
}

interface Ending {
  /** The first recipient of a slice. */
  readonly from: number;
  readonly until: number;
  readonly settlement: Pick<JobStop, 'state' | 'code' | 'reason'>;
}

/** The same in every run, so that a repeated one finds its own endings and tells them once more. */
const owner = 'fan-out';
const slicesAtOnce = 10;

/**
 * Recipients of a stopped job that are not in the dispatch queue end as the stop says (D46, D53), and are told before it
 * returns. A slice that a worker has, of a wave that was announced and queued, is left to the worker.
 */
export async function endSlices(job: StoredJob, { from, until, settlement }: Ending, ports: EndPorts): Promise<void> {
  const addresses = await addressesOf(job.head.jobId, { from, until }, ports);
  const firsts = Array.from({ length: Math.ceil((until - from) / sliceSize) }, (_, at) => from + at * sliceSize);
  await sideBySide(firsts, slicesAtOnce, async (first) => {
    const ended = await endedSlice(job, first, { settlement, nowMs: ports.nowMs() }, ports);
    const events = eventsOf(job, ended, { first, addresses, nowMs: ports.nowMs() });
    if (events.length > 0) await ports.events.send(events);
  });
}

async function addressesOf(jobId: string, { from, until }: { from: number; until: number }, ports: EndPorts) {
  const addresses = new Map<number, string>();
  for (let index = from; index < until; ) {
    const recipients: readonly Recipient[] = await ports.jobs.recipientsFrom(jobId, index);
    if (recipients.length === 0) throw new Error('recipients of the job are gone');
    for (const { to } of recipients) {
      addresses.set(index, to);
      index += 1;
    }
  }
  return addresses;
}

async function endedSlice(
  { head }: StoredJob,
  first: number,
  { settlement, nowMs }: Pick<Ending, 'settlement'> & { readonly nowMs: number },
  { slices }: EndPorts,
): Promise<Slice | undefined> {
  const size = Math.min(sliceSize, head.total - first);
  const claim = { key: sliceOf({ jobId: head.jobId, index: first }), try: 0, owner, atMs: nowMs, size };
  const outcomes = new Map(Array.from({ length: size }, (_, place): [number, Outcome] => [place, settlement]));
  return await slices.endUncalled(claim, outcomes);
}

const metricOf = { failed: 'MessagesFailed', expired: 'MessagesExpired' } as const;

function eventsOf(
  { head }: StoredJob,
  ended: Slice | undefined,
  told: { readonly first: number; readonly addresses: ReadonlyMap<number, string>; readonly nowMs: number },
) {
  if (ended === undefined) return [];
  const { jobId, clientId, acceptedAtMs, correlationId } = head;
  return ended.outcomes.flatMap((outcome, place) => {
    if (outcome?.state !== 'failed' && outcome?.state !== 'expired') return [];
    count(metricOf[outcome.state]);
    const index = told.first + placeInSlice(place);
    const message = { jobId, index, clientId, acceptedAtMs, about: aboutJob(head), to: told.addresses.get(index) };
    const event = outcomeEvent(message, outcome, told.nowMs);
    return event === undefined ? [] : [{ ...event, correlationId }];
  });
}

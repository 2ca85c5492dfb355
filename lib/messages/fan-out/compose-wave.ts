import type { LogEvent, LogFacts } from '../../observe/log.ts';
import { count } from '../../observe/metrics.ts';
import { nameOf } from '../../observe/name-of.ts';
import type { EventSink, ServiceEvent } from '../../webhooks/event.ts';
import type { SendJob } from '../accept/send-job.ts';
import { composedMessage, isAlone } from '../composed-message.ts';
import type { Settlement } from '../dispatch/claim.ts';
import { completedEvent } from '../dispatch/completed-event.ts';
import type { Claims } from '../dispatch/dispatch-ports.ts';
import { outcomeEvent } from '../dispatch/message-event.ts';
import { aboutJob, type ComposedMessage, type DispatchMessage, dispatchIdOf, type Recipient } from '../job.ts';
import type { CompositionPlan } from '../request/compose.ts';

export interface ComposePorts {
  readonly claims: Pick<Claims, 'take'>;
  readonly events: EventSink;
  readonly compose: (plan: CompositionPlan, recipient: Recipient, dispatchId: string) => DispatchMessage['request'];
  readonly nowMs: () => number;
  readonly log: (event: LogEvent, facts: LogFacts) => void;
}

/** Some recipients of a job, and the index in the whole job of the first of them. */
export interface Wave {
  readonly recipients: readonly Recipient[];
  readonly firstIndex: number;
}

/** The messages of a wave. Recipients that cannot be composed end `failed` (R14) and are told before it returns (D34). */
export async function composeWave(job: SendJob, wave: Wave, ports: ComposePorts): Promise<ComposedMessage[]> {
  const messages: ComposedMessage[] = [];
  const failed: Unqueued[] = [];
  for (const [offset, recipient] of wave.recipients.entries()) {
    const index = wave.firstIndex + offset;
    const dispatchId = dispatchIdOf({ jobId: job.head.jobId, index });
    try {
      messages.push(composedMessage(job, index, ports.compose(job.plan, recipient, dispatchId)));
    } catch (error) {
      ports.log('job.not_composable', { dispatchId, error: nameOf(error) });
      failed.push({ index, to: recipient.to });
    }
  }
  await endUnqueued(job, failed, notComposable, ports);
  return messages;
}

const notComposable: Settlement = { state: 'failed', code: 'not_composable' };

/** All recipients of a wave end as the stop of their job says (D46, D53), and are told before it returns. */
export async function endWave(job: SendJob, wave: Wave, settlement: Settlement, ports: ComposePorts): Promise<void> {
  const unqueued = wave.recipients.map(({ to }, offset) => ({ index: wave.firstIndex + offset, to }));
  await endUnqueued(job, unqueued, settlement, ports);
}

interface Unqueued {
  readonly index: number;
  readonly to: string;
}

const endingsAtOnce = 20;

/** Ends recipients that are not queued. One that a worker has claimed, of an earlier try of this wave, is left to it. */
async function endUnqueued(job: SendJob, unqueued: readonly Unqueued[], settlement: Settlement, ports: ComposePorts) {
  const events: ServiceEvent[] = [];
  const waiting = unqueued.values();
  await Promise.all(
    Array.from({ length: endingsAtOnce }, async () => {
      for (const recipient of waiting) events.push(...(await endedUnqueued(job, recipient, settlement, ports)));
    }),
  );
  if (events.length > 0) await ports.events.send(events);
}

const claimant = 'fan-out/0';
const metricOf = { failed: 'MessagesFailed', expired: 'MessagesExpired', sent: undefined, unknown: undefined } as const;

async function endedUnqueued(
  job: SendJob,
  { index, to }: Unqueued,
  settlement: Settlement,
  ports: ComposePorts,
): Promise<ServiceEvent[]> {
  const { head } = job;
  const { jobId, clientId, acceptedAtMs } = head;
  const claim = { key: { jobId, index }, ...settlement, at: claimant, claimedAtMs: ports.nowMs(), to };
  const existing = await ports.claims.take(claim);
  if (existing !== undefined && existing.at !== claimant) return [];
  const metric = metricOf[settlement.state];
  if (existing === undefined && metric !== undefined) count(metric);
  const ended = existing ?? claim;
  const message = { jobId, index, clientId, acceptedAtMs, about: aboutJob(head), to };
  const event = outcomeEvent(message, ended, ports.nowMs());
  const completed = isAlone(job) ? [completedEvent(message, { [ended.state]: 1 }, ports.nowMs())] : [];
  return [...(event === undefined ? [] : [event]), ...completed];
}

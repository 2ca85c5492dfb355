import { present } from '../../keys/present.ts';
import type { LogEvent, LogFacts } from '../../observe/log.ts';
import { count } from '../../observe/metrics.ts';
import { nameOf } from '../../observe/name-of.ts';
import type { EventSink, ServiceEvent } from '../../webhooks/event.ts';
import type { SendJob } from '../accept/send-job.ts';
import type { Settlement } from '../dispatch/claim.ts';
import { completedEvent } from '../dispatch/completed-event.ts';
import type { Claims } from '../dispatch/dispatch-ports.ts';
import { outcomeEvent } from '../dispatch/message-event.ts';
import { aboutJob, type DispatchMessage, dispatchIdOf, type Recipient } from '../job.ts';
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
export async function composeWave(job: SendJob, wave: Wave, ports: ComposePorts): Promise<DispatchMessage[]> {
  const messages: DispatchMessage[] = [];
  const failures: ServiceEvent[] = [];
  for (const [offset, recipient] of wave.recipients.entries()) {
    const index = wave.firstIndex + offset;
    const dispatchId = dispatchIdOf({ jobId: job.head.jobId, index });
    try {
      messages.push(messageOf(job, index, ports.compose(job.plan, recipient, dispatchId)));
    } catch (error) {
      ports.log('job.not_composable', { dispatchId, error: nameOf(error) });
      failures.push(...(await endUnqueued(job, { index, to: recipient.to }, notComposable, ports)));
    }
  }
  if (failures.length > 0) await ports.events.send(failures);
  return messages;
}

const notComposable: Settlement = { state: 'failed', code: 'not_composable' };

/** Ends a recipient that is never queued, unless it has ended already; returns what there is to tell of it. */
async function endUnqueued(
  job: SendJob,
  { index, to }: { readonly index: number; readonly to: string },
  outcome: Settlement,
  ports: ComposePorts,
): Promise<ServiceEvent[]> {
  const { head } = job;
  const { jobId, clientId, acceptedAtMs } = head;
  const claim = { key: { jobId, index }, ...outcome, at: 'fan-out/0', claimedAtMs: ports.nowMs(), to };
  if ((await ports.claims.take(claim)) === undefined) count('MessagesFailed');
  const message = { jobId, index, clientId, acceptedAtMs, about: aboutJob(head), to };
  const event = outcomeEvent(message, outcome, ports.nowMs());
  const completed = isAlone(job) ? [completedEvent(message, { failed: 1 }, ports.nowMs())] : [];
  return [...(event === undefined ? [] : [event]), ...completed];
}

/** Its one message says itself when the job has ended; what was dropped as its duplicate is for the counts of the report. */
export function isAlone({ head, repeats = [] }: SendJob): boolean {
  return head.total === 1 && repeats.length === 0;
}

function messageOf(job: SendJob, index: number, request: DispatchMessage['request']): DispatchMessage {
  const { head } = job;
  return {
    jobId: head.jobId,
    index,
    clientId: head.clientId,
    phoneNumberId: head.phoneNumberId,
    credential: head.credential,
    path: head.path,
    acceptedAtMs: head.acceptedAtMs,
    ...present({ expiresAtMs: head.expiresAtMs }),
    correlationId: head.correlationId,
    attempt: 0,
    about: aboutJob(head),
    ...(isAlone(job) ? { alone: true as const } : {}),
    ...present({ receiptsExpected: head.receiptsExpected }),
    request,
  };
}

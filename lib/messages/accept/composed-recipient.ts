import { queueBody } from '../../aws/queue-body.ts';
import type { LogEvent, LogFacts } from '../../observe/log.ts';
import { nameOf } from '../../observe/name-of.ts';
import type { ChunkRecipient } from '../chunk.ts';
import { dispatchIdOf, type MessageRequest, type Recipient, type StoredRecipient } from '../job.ts';
import type { CompositionPlan } from '../request/compose.ts';

export interface ComposePorts {
  readonly compose: (plan: CompositionPlan, recipient: Recipient, dispatchId: string) => MessageRequest;
  readonly log: (event: LogEvent, facts: LogFacts) => void;
}

/** Ten of them are a slice, which must fit into one message of the queue; the platform takes far less. */
const mostRequestBytes = 100_000;

class MessageTooLarge extends Error {
  override readonly name = 'MessageTooLarge';
}

/** One recipient of a job as a chunk carries it: without a request where none can be made, so that it fails there (R14, D60). */
export function composedRecipient(
  plan: CompositionPlan,
  { to, ...stored }: StoredRecipient,
  key: { readonly jobId: string; readonly index: number },
  ports: ComposePorts,
): ChunkRecipient {
  const dispatchId = dispatchIdOf(key);
  const { index } = key;
  if (to === undefined) return { index };
  try {
    const request = ports.compose(plan, { ...stored, to }, dispatchId);
    if (Buffer.byteLength(queueBody(request)) > mostRequestBytes) throw new MessageTooLarge();
    return { index, to, request };
  } catch (error) {
    ports.log('job.not_composable', { dispatchId, error: nameOf(error) });
    return { index, to };
  }
}

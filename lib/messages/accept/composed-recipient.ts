import { queueBody } from '../../aws/queue-body.ts';
import { errorName } from '../../observe/error-name.ts';
import type { LogEvent, LogFacts } from '../../observe/log.ts';
import type { TriedRecipient } from '../dispatch/call-facts.ts';
import type { CompositionPlan } from '../dispatch/composition-plan.ts';
import { type MessageRequest, messageIdOf, type Recipient, type StoredRecipient } from '../dispatch/head.ts';

export interface ComposePorts {
  readonly compose: (plan: CompositionPlan, recipient: Recipient, messageId: string) => MessageRequest;
  readonly log: (event: LogEvent, facts: LogFacts) => void;
}

/** Ten requests must fit into one queue message; the platform takes far less. */
const mostRequestBytes = 100_000;

class MessageTooLarge extends Error {
  override readonly name = 'MessageTooLarge';
}

/**
 * Returns one recipient as a try calls it. Without a composable request the message fails in the worker (R14, D60).
 */
export function composedRecipient(
  plan: CompositionPlan,
  { to, ...stored }: StoredRecipient,
  key: { readonly dispatchId: string; readonly index: number },
  ports: ComposePorts,
): TriedRecipient {
  const messageId = messageIdOf(key);
  const { index } = key;
  if (to === undefined) return { index };
  try {
    const request = ports.compose(plan, { ...stored, to }, messageId);
    if (Buffer.byteLength(queueBody(request)) > mostRequestBytes) throw new MessageTooLarge();
    return { index, to, request };
  } catch (error) {
    ports.log('dispatch.not_composable', { messageId, error: errorName(error) });
    return { index, to };
  }
}

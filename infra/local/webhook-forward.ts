import { present } from '../../lib/keys/present.ts';
import type { Delivery, DeliveryAnswer } from './webhook-receiver.ts';

/** Less than a delivery waits for an answer (15 s), so that it is us who say that there is none. */
const forwardLimitMs = 14_000;

/** What is answered for a program that does not: a failure that is tried again after the schedule's own wait. */
const noAnswerStatus = 503;

export interface Forwarded extends DeliveryAnswer {
  /** Why there was no answer; absent when there was one. */
  readonly fault?: string;
}

/**
 * Posts a delivery to a program of the developer's, byte for byte and with the headers that sign it, and returns the
 * answer for the service: its status and `Retry-After`, redirects too; 503 when none came in 14 s.
 */
export async function forward(url: string, { headers, body }: Delivery, limitMs = forwardLimitMs): Promise<Forwarded> {
  try {
    const reply = await fetch(url, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json', connection: 'close' },
      body,
      redirect: 'manual',
      signal: AbortSignal.timeout(limitMs),
    });
    await reply.body?.cancel();
    return { status: reply.status, ...present({ retryAfter: reply.headers.get('retry-after') ?? undefined }) };
  } catch (error) {
    return { status: noAnswerStatus, fault: faultOf(error, limitMs) };
  }
}

function faultOf(error: unknown, limitMs: number): string {
  const { name, cause } = error as Error & { readonly cause?: NodeJS.ErrnoException };
  return name === 'TimeoutError' ? `no answer in ${limitMs / 1_000} s` : (cause?.code ?? cause?.message ?? name);
}

import type { Delivery, DeliveryAnswer } from './webhook-receiver.ts';

/** This is below the 15 s of a delivery, so the timeout is reported here. */
const forwardLimitMs = 14_000;

/** A program without an answer gets this status: the service retries it after its own wait. */
const noAnswerStatus = 503;

export interface Forwarded extends DeliveryAnswer {
  readonly fault?: string;
}

/**
 * Posts a delivery, byte for byte with its signature headers. Returns the program's status (redirects too) and
 * `Retry-After`; 503 without an answer within 14 s.
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
    return { status: reply.status, retryAfter: reply.headers.get('retry-after') ?? undefined };
  } catch (error) {
    return { status: noAnswerStatus, fault: faultOf(error, limitMs) };
  }
}

function faultOf(error: unknown, limitMs: number): string {
  const { name, cause } = error as Error & { readonly cause?: NodeJS.ErrnoException };
  return name === 'TimeoutError' ? `no answer in ${limitMs / 1_000} s` : (cause?.code ?? cause?.message ?? name);
}

import { Refusal } from '../http/refusal.ts';
import { PlatformFailure } from './failure.ts';

const defaultRetryAfterSeconds = 60;

/** Returns the refusal for a request whose platform call failed (D7). */
export function refusalOf(failure: PlatformFailure): Refusal {
  const { code, userMessage, retryAfterSeconds } = failure.facts;
  const cause = failure;
  const platformCode = { platformCode: code };
  if (failure.throttled) {
    const seconds = Math.ceil(retryAfterSeconds ?? defaultRetryAfterSeconds);
    const headers = { 'retry-after': String(seconds) };
    return new Refusal('platform_rate_limited', 'the platform limits the rate of requests, try again later', {
      headers,
      cause,
      ...platformCode,
    });
  }
  const ours = failure.kind !== 'refused' || failure.credentialRefused;
  // Advice `backoff` without a throttle is the platform's own fault, whatever its HTTP status.
  if (ours || failure.advice === 'backoff') {
    return new Refusal('platform_unreachable', 'the platform could not be reached', { cause });
  }
  return new Refusal('platform_refused', userMessage ?? 'the platform refused the request', { cause, ...platformCode });
}

/** Awaits a request's platform call: the one place where its failures become refusals. */
export async function atPlatform<T>(call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    throw error instanceof PlatformFailure ? refusalOf(error) : error;
  }
}

/** Does the same for a call that changes something: an ambiguous result gets a message of its own. */
export async function changingAtPlatform<T>(call: () => Promise<T>): Promise<T> {
  return await atPlatform(async () => {
    try {
      return await call();
    } catch (error) {
      if (!(error instanceof PlatformFailure) || error.kind !== 'ambiguous') throw error;
      const message =
        'the platform did not answer clearly and may have done what was asked; synchronize before repeating it';
      throw new Refusal('platform_unreachable', message, { cause: error });
    }
  });
}

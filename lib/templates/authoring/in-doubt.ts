import { log } from '../../observe/log.ts';
import { nameOf } from '../../observe/name-of.ts';
import { PlatformFailure } from '../../platform/failure.ts';

/**
 * Awaits a call that changes something at the platform. When nobody can tell whether it did, `settle` runs before the
 * failure goes on its way: what a yes would have made untrue is forgotten. What `settle` throws is logged and hides nothing.
 */
export async function whenInDoubt<T>(call: () => Promise<T>, settle: () => Promise<unknown>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    if (error instanceof PlatformFailure && error.kind === 'ambiguous') {
      await settle().catch((failure: unknown) => {
        log('template.doubt_not_settled', { error: nameOf(failure) });
      });
    }
    throw error;
  }
}

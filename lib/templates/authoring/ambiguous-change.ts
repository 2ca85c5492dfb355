import { errorName } from '../../observe/error-name.ts';
import { log } from '../../observe/log.ts';
import { PlatformFailure } from '../../platform/failure.ts';

/**
 * Awaits a change at the platform. On an ambiguous failure `settle` forgets facts that a hidden success would make
 * untrue. Its own failure is logged and hides nothing.
 */
export async function settlingAmbiguous<T>(call: () => Promise<T>, settle: () => Promise<unknown>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    if (error instanceof PlatformFailure && error.kind === 'ambiguous') {
      await settle().catch((failure: unknown) => {
        log('template.doubt_not_settled', { error: errorName(failure) });
      });
    }
    throw error;
  }
}

import type { NumberPace } from './number-pace.ts';

/** Where the paces of numbers are kept. */
export interface NumberPaces {
  /** Strongly consistent. */
  readonly find: (phoneNumberId: string) => Promise<NumberPace>;
  /**
   * Changes a pace by one write under the condition that it is still as it was read (`seen`; read first without it);
   * when somebody else was first, `change` is asked again with what they left. `waitedMs`, since the call of `change`
   * began, is what a writer adds to its time. A pace that comes back as it was is not written. The pace that is returned is as stored.
   * Throws when it was too often too late, or the table refuses.
   */
  readonly change: <T>(
    phoneNumberId: string,
    seen: NumberPace | undefined,
    change: (pace: NumberPace, waitedMs: number) => { readonly pace: NumberPace; readonly result: T },
  ) => Promise<{ readonly pace: NumberPace; readonly result: T }>;
}

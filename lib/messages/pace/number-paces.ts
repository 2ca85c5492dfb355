import type { NumberPace } from './number-pace.ts';

/** Thrown by a writer that others were ahead of again and again: the table is well, and a later try finds fewer of them. */
export class PaceContended extends Error {
  constructor() {
    super('the pace of a number was changed by others again and again');
    this.name = 'PaceContended';
  }
}

/** Where the paces of numbers are kept. */
export interface NumberPaces {
  /** Strongly consistent. */
  readonly find: (phoneNumberId: string) => Promise<NumberPace>;
  /**
   * Changes a pace by one write under the condition that it is still as it was read (`seen`; read first without it);
   * when somebody else was first, `change` is asked again with what they left. `waitedMs`, since the call of `change`
   * began, is what a writer adds to its time. A pace that comes back as it was is not written. The pace that is returned is as stored.
   * Throws `PaceContended` when it was too often too late, and what the table throws.
   */
  readonly change: <T>(
    phoneNumberId: string,
    seen: NumberPace | undefined,
    change: (pace: NumberPace, waitedMs: number) => { readonly pace: NumberPace; readonly result: T },
  ) => Promise<{ readonly pace: NumberPace; readonly result: T }>;
}

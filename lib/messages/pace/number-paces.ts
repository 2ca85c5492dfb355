import type { NumberPace } from './number-pace.ts';

/** Thrown when other writers always won: the table is healthy, and a later retry meets fewer of them. */
export class PaceContended extends Error {
  constructor() {
    super('the pace of a number was changed by others again and again');
    this.name = 'PaceContended';
  }
}

export interface NumberPaces {
  /** Reads strongly. */
  readonly find: (phoneNumberId: string) => Promise<NumberPace>;
  /**
   * Makes a compare-and-set on `seen` (read first if absent). After a conflict `change` runs again; `waitedMs` is the
   * time since the call. Unchanged paces are not written. Throws `PaceContended`.
   */
  readonly change: <T>(
    phoneNumberId: string,
    seen: NumberPace | undefined,
    change: (pace: NumberPace, waitedMs: number) => { readonly pace: NumberPace; readonly result: T },
  ) => Promise<{ readonly pace: NumberPace; readonly result: T }>;
}

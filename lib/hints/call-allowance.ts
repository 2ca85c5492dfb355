import type { PlatformTransport } from '../platform/transport.ts';

export class CallsSpent extends Error {
  constructor() {
    super('no platform call is left to this turn');
    this.name = 'CallsSpent';
  }
}

/** The transport counts the platform calls of one turn, so that retries and small pages count too. */
export class CallAllowance {
  readonly #calls: number;
  #made = 0;

  constructor(calls: number) {
    this.#calls = calls;
  }

  get made(): number {
    return this.#made;
  }

  get left(): number {
    return this.#calls - this.#made;
  }

  /** Passes calls on until they are used up; then it throws `CallsSpent`. */
  within(call: PlatformTransport): PlatformTransport {
    return async (asked) => {
      if (this.left <= 0) throw new CallsSpent();
      this.#made += 1;
      return await call(asked);
    };
  }
}

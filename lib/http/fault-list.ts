import type { Fault } from './refusal.ts';

const maxListed = 100;

/** Collects the faults of a request; the first 100 are kept, the rest only counted, and the list says so at its end. */
export class FaultList {
  readonly #listed: Fault[] = [];
  #count = 0;

  add(fault: Fault): void {
    this.#count += 1;
    if (this.#listed.length < maxListed) this.#listed.push(fault);
  }

  /** Whether further faults are only counted. */
  get isFull(): boolean {
    return this.#listed.length === maxListed;
  }

  get count(): number {
    return this.#count;
  }

  /** The first fault as a sentence that stands alone: what the refusal says in `message`. */
  get message(): string {
    const [first] = this.#listed;
    if (first === undefined) return 'invalid request';
    return first.message.includes(first.path) ? first.message : `${first.path}: ${first.message}`;
  }

  /** Ready for `errors` of a refusal. */
  listed(): Fault[] {
    const unlisted = this.#count - this.#listed.length;
    if (unlisted === 0) return [...this.#listed];
    return [...this.#listed, { path: '', message: `${unlisted} more faults are not listed` }];
  }
}

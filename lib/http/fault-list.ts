import type { Fault } from './refusal.ts';

const maxListed = 100;

/** Keeps the first 100 faults, counts the others and says so at its end. */
export class FaultList {
  readonly #listed: Fault[] = [];
  #count = 0;

  add(fault: Fault): void {
    this.#count += 1;
    if (this.#listed.length < maxListed) this.#listed.push(fault);
  }

  get isFull(): boolean {
    return this.#listed.length === maxListed;
  }

  get count(): number {
    return this.#count;
  }

  get message(): string {
    const [first] = this.#listed;
    if (first === undefined) return 'invalid request';
    return first.message.includes(first.path) ? first.message : `${first.path}: ${first.message}`;
  }

  listed(): Fault[] {
    const unlisted = this.#count - this.#listed.length;
    if (unlisted === 0) return [...this.#listed];
    return [...this.#listed, { path: '', message: `${unlisted} more faults are not listed` }];
  }
}

/** A thread loses its owner after this silence of the person. */
const idleMs = 24 * 3_600_000;

/**
 * Another responder may own a thread (platform reference, 10.5): the business then gets messages as `standby` and may
 * not send free-form messages.
 */
export class Threads {
  readonly #activeAtMs = new Map<string, number>();

  own(numberId: string, key: string, atMs: number): void {
    this.#activeAtMs.set(`${numberId} ${key}`, atMs);
  }

  release(numberId: string, key: string): void {
    this.#activeAtMs.delete(`${numberId} ${key}`);
  }

  isOwned(numberId: string, key: string, nowMs: number): boolean {
    const activeAtMs = this.#activeAtMs.get(`${numberId} ${key}`);
    return activeAtMs !== undefined && nowMs - activeAtMs < idleMs;
  }

  /** Prolongs the ownership by a message of the person. */
  wrote(numberId: string, key: string, atMs: number): void {
    if (this.isOwned(numberId, key, atMs)) this.own(numberId, key, atMs);
  }

  owned(nowMs: number): readonly { readonly phone_number_id: string; readonly to: string }[] {
    return [...this.#activeAtMs.keys()].flatMap((place) => {
      const [numberId = '', to = ''] = place.split(' ');
      return this.isOwned(numberId, to, nowMs) ? [{ phone_number_id: numberId, to }] : [];
    });
  }
}

import { createHash } from 'node:crypto';

export interface Medium {
  readonly id: string;
  readonly numberId: string;
  readonly type: string;
  readonly bytes: Buffer;
  readonly sha256: string;
  readonly endsMs: number;
}

const firstId = 1_700_000_000_000_000;

export class MediaStore {
  readonly #byId = new Map<string, Medium>();
  #added = 0;

  get(id: string, nowMs: number): Medium | undefined {
    const medium = this.#byId.get(id);
    return medium !== undefined && medium.endsMs > nowMs ? medium : undefined;
  }

  add(facts: Pick<Medium, 'numberId' | 'type' | 'bytes' | 'endsMs'>): Medium {
    this.#added += 1;
    const medium = {
      ...facts,
      id: String(firstId + this.#added),
      sha256: createHash('sha256').update(facts.bytes).digest('hex'),
    };
    this.#byId.set(medium.id, medium);
    return medium;
  }

  remove(id: string): void {
    this.#byId.delete(id);
  }
}

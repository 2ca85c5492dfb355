import type { Backlog } from '../../lib/webhooks/delivery/deliver-ports.ts';
import type { Pending } from '../../lib/webhooks/delivery/pending.ts';
import { waitingKey } from '../../lib/webhooks/items.ts';

interface Placed {
  readonly place: string;
  readonly pending: Pending;
}

/** Each waiting list in memory is in the order of its keys. */
export class MemoryBacklog implements Backlog {
  readonly #lists = new Map<number, Placed[]>();
  readonly #pageItems: number;

  constructor(pageItems = 50) {
    this.#pageItems = pageItems;
  }

  get all(): readonly Pending[] {
    return [...this.#lists.values()].flat().map(({ pending }) => pending);
  }

  put = async (pending: Pending): Promise<void> => {
    const list = this.#listOf(pending.event.clientId);
    const { sk: place } = waitingKey(pending);
    const at = indexOf(list, place);
    list.splice(at, list[at]?.place === place ? 1 : 0, { place, pending });
  };

  remove = async (pending: Pending): Promise<void> => {
    const list = this.#listOf(pending.event.clientId);
    const { sk: place } = waitingKey(pending);
    const at = indexOf(list, place);
    if (list[at]?.place === place) list.splice(at, 1);
  };

  async *pages(clientId: number): AsyncGenerator<readonly Pending[]> {
    const list = this.#listOf(clientId);
    for (let after = ''; ; ) {
      const from = indexOf(list, `${after} `);
      const page = list.slice(from, from + this.#pageItems);
      yield page.map(({ pending }) => pending);
      if (page.length < this.#pageItems) return;
      after = page.at(-1)?.place ?? '';
    }
  }

  #listOf(clientId: number): Placed[] {
    const list = this.#lists.get(clientId) ?? [];
    this.#lists.set(clientId, list);
    return list;
  }
}

/** Returns the index of a place in the list, or where it would be inserted. */
function indexOf(list: readonly Placed[], place: string): number {
  let low = 0;
  let high = list.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((list[middle] as Placed).place < place) low = middle + 1;
    else high = middle;
  }
  return low;
}

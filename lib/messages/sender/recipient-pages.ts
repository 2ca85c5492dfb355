import type { StoredRecipient } from '../dispatch/head.ts';
import type { SenderDispatches } from './sender-ports.ts';

/** Keeps the page of a dispatch's recipients that was read last, or is being read. */
export class RecipientPages {
  readonly #dispatchId: string;
  #last: { readonly firstIndex: number; readonly page: Promise<readonly StoredRecipient[]> } | undefined;

  constructor(dispatchId: string) {
    this.#dispatchId = dispatchId;
  }

  /** Slices that begin together wait for the page that one of them reads. Throws when the recipients are gone. */
  async at(index: number, dispatches: Pick<SenderDispatches, 'recipientsFrom'>): Promise<StoredRecipient> {
    for (;;) {
      const last = this.#last;
      const known = last && (await last.page.catch(() => []))[index - last.firstIndex];
      if (known !== undefined) return known;
      if (last !== this.#last) continue;
      const page = dispatches.recipientsFrom(this.#dispatchId, index);
      this.#last = { firstIndex: index, page };
      const [first] = await page;
      if (first === undefined) throw new Error('recipients of the dispatch are gone');
      return first;
    }
  }
}

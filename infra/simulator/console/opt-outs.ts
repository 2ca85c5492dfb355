import { CallError } from './api.ts';
import { asUser, forClient } from './session.ts';
import { createStore } from './store.ts';

export interface OptOut {
  readonly recipient: string;
  /** The client knows the person by these names too; a row of the list has them, the answer to a change does not. */
  readonly also?: readonly string[];
  readonly state: 'stopped' | 'started';
  readonly source: string;
  readonly scope: string;
  readonly at: string;
  readonly platform_stopped: boolean;
}

interface Page {
  readonly data: readonly OptOut[];
  readonly paging: { readonly cursors: { readonly after?: string } };
}

export interface OptOuts {
  /** The newest row is first; the service's order has no meaning. */
  readonly rows: readonly OptOut[];
  readonly hasMore: boolean;
}

const pageSize = 1_000;

export async function readOptOuts(pages: number): Promise<OptOuts> {
  const rows: OptOut[] = [];
  let after: string | undefined;
  for (let page = 0; page < pages; page += 1) {
    const cursor = after === undefined ? '' : `&cursor=${encodeURIComponent(after)}`;
    const { data, paging } = await asUser<Page>('GET', forClient(`/v1/opt-outs?limit=${pageSize}${cursor}`));
    rows.push(...data);
    after = paging.cursors.after;
    if (after === undefined) break;
  }
  return { rows: rows.sort((a, b) => b.at.localeCompare(a.at)), hasMore: after !== undefined };
}

/** The service answers changes made here; these answers override older reads. */
export const changed = createStore<readonly OptOut[]>([]);

/** Stops marketing for the client, or takes its own stop back. Throws the service's refusal. */
export async function changeOptOut(method: 'PUT' | 'DELETE', recipient: string): Promise<OptOut> {
  const spelled = recipient.replaceAll(/[\s()-]/g, '');
  if (spelled === '') throw new CallError('Enter a number with its country code, or a user id.');
  const entry = await asUser<OptOut>(method, forClient(`/v1/opt-outs/${encodeURIComponent(spelled)}`));
  changed.set([entry, ...changed.get().filter(({ recipient: other }) => other !== entry.recipient)]);
  return entry;
}

export function withChanges(rows: readonly OptOut[], own: readonly OptOut[]): readonly OptOut[] {
  if (own.length === 0) return rows;
  const read = new Map(rows.flatMap((row) => [row.recipient, ...(row.also ?? [])].map((name) => [name, row] as const)));
  const newer = own.filter(({ recipient, at }) => at > (read.get(recipient)?.at ?? ''));
  const replaced = new Set(newer.map(({ recipient }) => read.get(recipient)));
  const shown = newer.map((entry) => {
    const { recipient = entry.recipient, also = [] } = read.get(entry.recipient) ?? {};
    return { ...entry, recipient, also };
  });
  // Of several changes to one person the newest stands first.
  const once = new Map(shown.toReversed().map((entry) => [entry.recipient, entry])).values();
  const all = [...once, ...rows.filter((row) => !replaced.has(row))];
  return all.sort((a, b) => b.at.localeCompare(a.at));
}

export const sources: Readonly<Record<string, string>> = {
  api: 'The client, by the interface',
  import: 'An import of the operator',
  reply: 'The person wrote so',
  quick_reply: 'The person tapped so',
  platform: 'The person’s setting on the phone',
  refused: 'The platform refused a message',
};

export const scopes: Readonly<Record<string, string>> = {
  client: 'Marketing from every number of this client',
  number: 'Marketing from one of its numbers',
  waba: 'Marketing from one of its business accounts (WABA)',
};

/** The client itself made the stop, and may take it back. */
export function isOfClient({ state, source }: OptOut): boolean {
  return state === 'stopped' && (source === 'api' || source === 'import');
}

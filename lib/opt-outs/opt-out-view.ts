import * as v from 'valibot';
import { currentChange, type Entry, isStopped, type OptOutChange } from './entry.ts';
import type { PersonOptOuts } from './person.ts';
import type { Recipient } from './person-name.ts';
import { kindOf, type ShownScopeText, textOf } from './scope.ts';

const sources = [
  'platform',
  'refused',
  'reply',
  'quick_reply',
  'api',
  'import',
] as const satisfies OptOutChange['source'][];

export const OptOutSchema = v.object({
  recipient: v.string(),
  /** Only rows of the list have it (opt-out-list.ts). */
  also: v.optional(v.array(v.string())),
  state: v.picklist(['stopped', 'started']),
  source: v.picklist(sources),
  scope: v.picklist(['client', 'number', 'waba']),
  at: v.pipe(v.string(), v.isoTimestamp()),
  platform_stopped: v.boolean(),
});
export type OptOut = v.InferOutput<typeof OptOutSchema>;

export interface Reader {
  readonly clientId: number;
  /** The client's own scope is among them (client-scopes.ts). */
  readonly scopes: ReadonlySet<ShownScopeText>;
}

/**
 * Returns the client's own entry, else that of a number or WABA that it sends from, stops first, then the latest.
 * Returns undefined without one. Other scopes stay hidden.
 */
export function optOutOf(
  recipient: Recipient,
  person: PersonOptOuts,
  { clientId, scopes }: Reader,
): OptOut | undefined {
  const own = textOf({ kind: 'client', clientId });
  const concerning = [...scopes]
    .flatMap((text) => {
      const entry = person.entries[text];
      return entry === undefined ? [] : [[text, entry] as const];
    })
    .toSorted(
      ([one, before], [other, after]) => Number(other === own) - Number(one === own) || holdsMore(before, after),
    );
  const [text = own, entry] = concerning[0] ?? [];
  const word = entry === undefined ? undefined : currentChange(entry);
  if (word === undefined) return undefined;
  return {
    recipient,
    state: word.says,
    source: word.source,
    scope: kindOf(text),
    at: new Date(word.atMs).toISOString(),
    platform_stopped: concerning.some(([each, { said }]) => each !== own && said?.says === 'stopped'),
  };
}

/** Orders entries of numbers and WABAs: stops first, then the latest. */
function holdsMore(one: Entry, other: Entry): number {
  const atMs = (entry: Entry) => currentChange(entry)?.atMs ?? 0;
  return Number(isStopped(other)) - Number(isStopped(one)) || atMs(other) - atMs(one);
}

import * as v from 'valibot';
import { unrecognizedField } from './closed-object.ts';
import { closestName, folded } from './closest-name.ts';
import type { HttpEvent } from './endpoint.ts';
import { clip, faultOf } from './parse.ts';
import { type Fault, refuseFaults } from './refusal.ts';

type Entries = v.ObjectSchema<v.ObjectEntries, undefined>;

export interface NamedReads {
  /** Every page also knows `client_id` (D4). */
  readonly query?: Entries | undefined;
  readonly headers?: Entries | undefined;
}

/** Shorter names are near too many others. */
const minComparedLetters = 3;
/** A request cannot fill its answer beyond this. */
const maxNamedStrays = 20;

/**
 * Refuses with 400 unknown query parameters, and lists the known ones: an ignored filter would show, or cancel,
 * everything (D16). Names with a leading `_` pass as cache busters.
 */
export function refuseUnknownQuery(event: HttpEvent, { query, headers }: NamedReads): void {
  const asked = event.queryStringParameters ?? {};
  const known = [...new Set([...Object.keys(query?.entries ?? {}), 'client_id'])];
  const strays = Object.keys(asked).filter((name) => !known.includes(name) && !name.startsWith('_'));
  if (strays.length === 0) return;
  const headerNames = Object.keys(headers?.entries ?? {});
  const unknown = strays.slice(0, maxNamedStrays).map((name): Fault => {
    const path = clip(name);
    return { path, message: `${unrecognizedField}: ${path}${hintOf(name, { known, headerNames })}` };
  });
  const others = query === undefined ? [] : (v.safeParse(query, asked).issues ?? []).map(faultOf);
  refuseFaults([...unknown, ...others]);
}

function hintOf(name: string, { known, headerNames }: { readonly known: string[]; readonly headerNames: string[] }) {
  const exist = `Known parameters: ${known.join(', ')}`;
  const header = closestName(name, headerNames);
  if (header !== undefined) return `; ${header} is a header. ${exist}`;
  const near = name.length < minComparedLetters ? undefined : closestName(name, known);
  const meant = near ?? otherWords.get(folded(name))?.find((word) => known.includes(word));
  return meant === undefined ? `. ${exist}` : `; did you mean ${meant}? ${exist}`;
}

/**
 * Other interfaces use these words, without case and punctuation, for the parameters that they may mean, likeliest
 * first.
 */
const otherWords: ReadonlyMap<string, readonly string[]> = new Map(
  Object.entries({
    after: ['cursor', 'from', 'page'],
    before: ['cursor', 'to'],
    campaign: ['campaign_name', 'campaign_id'],
    campaignid: ['campaign_name', 'campaign_id'],
    channel: ['channel_ids', 'wa_id', 'did'],
    client: ['client_id'],
    country: ['market'],
    count: ['size', 'limit'],
    cursor: ['page'],
    did: ['wa_id'],
    enabled: ['active'],
    end: ['to'],
    id: ['template_platform_id', 'wa_id', 'catalog_id'],
    isactive: ['active'],
    language: ['lang'],
    limit: ['size'],
    locale: ['lang'],
    next: ['cursor', 'page'],
    number: ['wa_id', 'did'],
    offset: ['page', 'cursor'],
    page: ['cursor'],
    pagesize: ['size', 'limit'],
    pagetoken: ['cursor'],
    perpage: ['size', 'limit'],
    phone: ['wa_id', 'did'],
    phonenumber: ['wa_id', 'did'],
    q: ['search'],
    quality: ['quality_scores'],
    qualityrating: ['quality_scores'],
    query: ['search', 'q'],
    search: ['q'],
    since: ['from'],
    size: ['limit'],
    start: ['from'],
    state: ['status'],
    status: ['state'],
    templatename: ['template', 'name'],
    templateid: ['template_platform_id'],
    until: ['to'],
  }),
);

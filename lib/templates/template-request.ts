import * as v from 'valibot';
import { boundedList, openObject } from '../http/closed-object.ts';
import { publicHttpsUrlFault } from '../http/public-url.ts';
import type { Fault } from '../http/refusal.ts';
import { categories, fault, type Judged } from './rules/draft.ts';
import { headersOf } from './rules/headers.ts';

/*
 * The parts of a request that create and edit have in common.
 */

/** More than a template may have, so that an endless list costs nothing. */
const maxComponents = 20;

export const CategorySchema = v.pipe(v.string(), v.toUpperCase(), v.picklist(categories));

/** What the components hold is for the component rules to judge: they need the category, and find all faults. */
export const ComponentsSchema = boundedList(v.unknown(), maxComponents);

/** Passed on as given; only the form of the overrides is known (D18). */
export const OptimizationSpecSchema = v.pipe(
  openObject,
  v.check(
    ({ bid_country_multiplier_overrides: overrides }) =>
      overrides === undefined || (overrides !== null && typeof overrides === 'object'),
    'bid_country_multiplier_overrides must be an object or an array',
  ),
);

/** What is wrong with asking for redirects (D19): they need an address that redirects. */
export function urlChangeFaults(asked: unknown, { offered }: { readonly offered: boolean }): Fault[] {
  if (asked !== true || offered) return [];
  const message = 'allow_button_url_change needs REDIRECT_BASE_URL, which this deployment does not set';
  return [{ path: 'allow_button_url_change', message }];
}

/** Checks the text of every `header_source`; what stands there is looked at when all else is found right (D18). */
export function checkSources(components: readonly unknown[], { path: root, faults }: Judged): void {
  for (const { header, path } of headersOf(components, root)) {
    const source = header['header_source'];
    const wrong = typeof source === 'string' ? publicHttpsUrlFault(source) : undefined;
    if (wrong !== undefined) fault({ path: `${path}.header_source`, faults }, wrong);
  }
}

import * as v from 'valibot';
import { boundedList, openObject } from '../../http/closed-object.ts';
import { didYouMean } from '../../http/closest-name.ts';
import { documentedAs } from '../../http/documented.ts';
import { butReceived, jsonExcerpt } from '../../http/json-excerpt.ts';
import { enumOf, isPart } from '../../http/json-part.ts';
import { publicHttpsUrlFault } from '../../http/public-url.ts';
import type { Fault } from '../../http/refusal.ts';
import { TemplateCategoryWord } from '../../platform/enums.ts';
import { at, type Category, type CheckedValue, categories, fault } from '../rules/draft.ts';
import { headersOf, urlOfMedia } from '../rules/headers.ts';
import { ComponentShape } from './component-shapes.ts';

/** A template's limit is lower, and an endless list costs nothing. */
const maxComponents = 20;

export const CategorySchema = v.pipe(
  v.string(unknownCategory),
  v.check(isCategory, unknownCategory),
  v.transform((text) => text.toUpperCase() as Category),
  documentedAs(() => TemplateCategoryWord),
);

function isCategory(text: string): boolean {
  return categories.some((category) => category === text.toUpperCase());
}

function unknownCategory({ input }: v.BaseIssue<unknown>): string {
  const hint = didYouMean(String(input), categories);
  return `category must be one of ${categories.join(', ')}, received ${jsonExcerpt(input)}${hint}`;
}

/** The component rules check the content: they need the category, and find all faults. */
export const ComponentsSchema = v.pipe(
  boundedList(v.unknown(), maxComponents),
  documentedAs(() => boundedList(ComponentShape, maxComponents)),
);

/** Its range depends on the category (rules/settings.ts). */
export const TimeToLiveSchema = v.pipe(v.number(), v.safeInteger(butReceived('must be a whole number of seconds')));

/** The spec is passed on as given; only the form of the overrides is known (D18). */
export const OptimizationSpecSchema = v.pipe(
  openObject,
  v.check(
    ({ bid_country_multiplier_overrides: overrides }) =>
      overrides === undefined || (overrides !== null && typeof overrides === 'object'),
    ({ input: { bid_country_multiplier_overrides: overrides } }) =>
      `bid_country_multiplier_overrides must be an object or an array, received ${jsonExcerpt(overrides)}`,
  ),
);

/** A wish for redirects is a fault without a redirect address (D19). */
export function urlChangeFaults(asked: unknown, { offered }: { readonly offered: boolean }): Fault[] {
  if (asked !== true || offered) return [];
  const message = 'allow_button_url_change needs REDIRECT_BASE_URL, which this deployment does not set';
  return [{ path: 'allow_button_url_change', message }];
}

/**
 * Checks the text of every URL of media. Only an edit takes one in place of a handle, where the platform shows it
 * (D20). The media themselves are fetched only for a request without faults (D18).
 */
export function checkSources(
  components: readonly unknown[],
  { path: root, faults }: CheckedValue,
  { editing }: { readonly editing: boolean },
): void {
  for (const { header, path } of headersOf(components, root)) {
    const { url, key } = urlOfMedia(header) ?? {};
    if (url === undefined) continue;
    const isMisplaced = !editing && key !== 'header_source';
    const wrong = isMisplaced
      ? `the handle of an upload; a public URL belongs in header_source, received ${jsonExcerpt(url)}`
      : publicHttpsUrlFault(url);
    if (wrong !== undefined) fault({ path: `${path}.${key}`, faults }, wrong);
  }
}

/**
 * Checks the targets of buttons that become redirects (D19): this service's domain must not lead to a URL that is not
 * public, not https, or has credentials.
 */
export function checkRedirectTargets(components: readonly unknown[], judged: CheckedValue): void {
  for (const [index, component] of components.entries()) {
    if (!isPart(component)) continue;
    const place = at(judged, index);
    for (const [number, button] of listOf(component['buttons']).entries()) {
      checkTarget(button, at(at(place, 'buttons'), number));
    }
    for (const [number, card] of listOf(component['cards']).entries()) {
      const inside = isPart(card) ? listOf(card['components']) : [];
      checkRedirectTargets(inside, at(at(at(place, 'cards'), number), 'components'));
    }
  }
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function checkTarget(button: unknown, judged: CheckedValue): void {
  if (!isPart(button) || enumOf(button['type']) !== 'URL' || typeof button['url'] !== 'string') return;
  const { url } = button;
  if (url.includes('{') || !/^https?:$/.test(URL.parse(url)?.protocol ?? '')) return;
  const wrong = publicHttpsUrlFault(url);
  if (wrong !== undefined) fault(at(judged, 'url'), `the redirect ${wrong}`);
}

import * as v from 'valibot';
import { ClientIdJson, clientIdFaults } from '../../access/operating-client.ts';
import { boundedList, closedObject } from '../../http/closed-object.ts';
import { closestName } from '../../http/closest-name.ts';
import { documentedAs, inAnyLetterCase } from '../../http/documented.ts';
import { FaultList } from '../../http/fault-list.ts';
import { butReceived } from '../../http/json-excerpt.ts';
import { enumOf, isPart } from '../../http/json-part.ts';
import { faultOf } from '../../http/parse.ts';
import { refuseFaults } from '../../http/refusal.ts';
import { countryMeant, isCountry } from '../../pricing/country.ts';
import { maxPairs, PairSchema } from '../assignments/assignment-request.ts';
import { eachOnce, type Pair } from '../assignments/pairs.ts';
import { fileFaults, type MediaFile } from '../authoring/header-media.ts';
import {
  CategorySchema,
  ComponentsSchema,
  checkRedirectTargets,
  checkSources,
  OptimizationSpecSchema,
  TimeToLiveSchema,
  urlChangeFaults,
} from '../authoring/template-request.ts';
import { checkComponents } from '../rules/components.ts';
import { at, type Category, type CheckedValue, categories, type TemplateDraft } from '../rules/draft.ts';
import { checkSettings } from '../rules/settings.ts';

/** A request gives one pair or a list (D13). */
const PairsSchema = v.pipe(
  v.unknown(),
  v.transform((given) => (Array.isArray(given) ? given : [given])),
  boundedList(PairSchema, maxPairs),
  documentedAs(() => v.union([PairSchema, boundedList(PairSchema, maxPairs)])),
);

/** The body is strict, because a misunderstood field costs a review (D6). */
export const TemplatesCreateBody = closedObject({
  name: v.pipe(
    v.string(),
    v.regex(/^[a-z0-9_]{1,512}$/, butReceived('name must be 1 to 512 characters of a-z, 0-9 and _')),
  ),
  language: v.pipe(
    v.string(),
    v.regex(/^[a-z]{2,3}(?:_[A-Z]{2,3})?$/, butReceived('language must be a code such as es, en_US or pt_BR')),
  ),
  category: CategorySchema,
  components: ComponentsSchema,
  parameter_format: v.optional(
    v.pipe(
      v.string(),
      v.regex(/^positional$/i, butReceived('parameter_format must be positional (named parameters are not supported)')),
      v.toUpperCase(),
      documentedAs(() => inAnyLetterCase(['positional'])),
    ),
  ),
  client_id: ClientIdJson,
  channel_campaigns: v.optional(PairsSchema),
  optimization_spec: v.optional(OptimizationSpecSchema),
  allow_button_url_change: v.optional(v.boolean()),
  allow_category_change: v.optional(v.boolean()),
  add_security_recommendation: v.optional(v.boolean()),
  code_expiration_minutes: v.optional(v.number()),
  /** For MARKETING it counts only where messages go through the platform's marketing edge (D30). */
  message_send_ttl_seconds: v.optional(TimeToLiveSchema),
  country: v.optional(v.pipe(v.string(), v.check(isCountry, strayCountry), v.toUpperCase())),
});

function strayCountry(issue: v.BaseIssue<unknown>): string {
  const what = butReceived('country must be an ISO 3166-1 alpha-2 code')(issue);
  return `${what}${countryMeant(String(issue.input))}`;
}

export interface CreateRequest {
  readonly name: string;
  readonly language: string;
  readonly draft: TemplateDraft;
  /** `askedClientId` checks it later. */
  readonly clientId: unknown;
  /** Pairs are assigned at once, without repetitions; an empty list leaves the placeholder (D13). */
  readonly pairs: readonly Pair[];
  readonly country?: string | undefined;
  /** On request static URL buttons become redirects (D19). */
  readonly urlChange: boolean;
  readonly passedOn: Readonly<Record<string, unknown>>;
}

export interface BesideBody {
  readonly file?: MediaFile | undefined;
  readonly redirectsOffered?: boolean;
  readonly queryClientId?: string | undefined;
}

/**
 * Refuses with one 400 that lists every fault of fields, components and file (D18), redirects where none are offered,
 * and, beside others, a bad `client_id`.
 */
export function parseCreateRequest(
  body: unknown,
  { file, redirectsOffered = false, queryClientId }: BesideBody,
): CreateRequest {
  const faults = new FaultList();
  const parsed = v.safeParse(TemplatesCreateBody, body);
  for (const issue of parsed.issues ?? []) faults.add(faultOf(issue));
  const asked = isPart(body) ? body['allow_button_url_change'] : undefined;
  for (const wrongWish of urlChangeFaults(asked, { offered: redirectsOffered })) faults.add(wrongWish);
  checkRules(body, file, faults);
  const clientIds = { query: queryClientId, body: isPart(body) ? body['client_id'] : undefined };
  // A bad client_id alone has a refusal code of its own.
  if (faults.count > 0) for (const wrongClient of clientIdFaults(clientIds)) faults.add(wrongClient);
  refuseFaults(faults.listed(), faults.message);
  const request = parsed.output as v.InferOutput<typeof TemplatesCreateBody>;
  const { message_send_ttl_seconds, allow_category_change, optimization_spec } = request;
  return {
    name: request.name,
    language: request.language,
    draft: draftOf(request, file !== undefined),
    clientId: request.client_id,
    pairs: eachOnce(request.channel_campaigns ?? []),
    country: request.country,
    urlChange: request.allow_button_url_change === true,
    passedOn: defined({ message_send_ttl_seconds, allow_category_change, optimization_spec }),
  };
}

/** The rules need these fields. An invalid one counts as absent, so that the rules still check the others. */
const RuledFields = v.object({
  category: v.fallback(v.optional(CategorySchema), undefined),
  components: v.fallback(v.optional(ComponentsSchema), undefined),
  add_security_recommendation: v.fallback(v.optional(v.boolean()), undefined),
  code_expiration_minutes: v.fallback(v.optional(v.number()), undefined),
  message_send_ttl_seconds: v.fallback(v.optional(TimeToLiveSchema), undefined),
  allow_button_url_change: v.fallback(v.optional(v.boolean()), undefined),
});

function checkRules(body: unknown, file: MediaFile | undefined, faults: FaultList): void {
  if (!isPart(body)) return;
  const { category, components, ...settings } = v.parse(RuledFields, body);
  const root: CheckedValue = { path: '', faults };
  checkSettings({ category, ...codeFields(settings) }, settings.message_send_ttl_seconds, root);
  if (components === undefined) return;
  const judgedAs = category ?? likelyCategory(body['category'], components);
  const draft = draftOf({ ...settings, category: judgedAs, components }, file !== undefined);
  const place = at(root, 'components');
  checkComponents(draft, place);
  checkSources(components, place, { editing: false });
  if (settings.allow_button_url_change === true) checkRedirectTargets(components, place);
  for (const wrongFile of fileFaults(components, file)) faults.add(wrongFile);
}

/**
 * Returns the category whose rules apply when the given one is unknown: its nearest name, else AUTHENTICATION for an
 * OTP button, else MARKETING, which allows all that UTILITY allows.
 */
function likelyCategory(given: unknown, components: readonly unknown[]): Category {
  const near = typeof given === 'string' ? closestName(given, categories) : undefined;
  const buttons = components.flatMap((each) => (isPart(each) ? each['buttons'] : []));
  const sendsCode = buttons.some((button) => isPart(button) && enumOf(button['type']) === 'OTP');
  return categories.find((category) => category === near) ?? (sendsCode ? 'AUTHENTICATION' : 'MARKETING');
}

function draftOf(
  request: {
    readonly category: Category;
    readonly components: readonly unknown[];
    readonly code_expiration_minutes?: number | undefined;
    readonly add_security_recommendation?: boolean | undefined;
  },
  fileAttached: boolean,
): TemplateDraft {
  const { category, components } = request;
  return { category, components, fileAttached, ...codeFields(request) };
}

function codeFields(request: {
  readonly code_expiration_minutes?: number | undefined;
  readonly add_security_recommendation?: boolean | undefined;
}): Pick<TemplateDraft, 'codeExpirationMinutes' | 'addSecurityRecommendation'> {
  const { code_expiration_minutes: minutes, add_security_recommendation: advice } = request;
  return { codeExpirationMinutes: minutes, addSecurityRecommendation: advice };
}

function defined(fields: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

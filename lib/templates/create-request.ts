import * as v from 'valibot';
import { eachOnce, type Pair } from '../assignments/pairs.ts';
import { maxPairs, PairSchema } from '../assignments/request.ts';
import { boundedList, closedObject } from '../http/closed-object.ts';
import { FaultList } from '../http/fault-list.ts';
import { faultOf } from '../http/parse.ts';
import { refuseFaults } from '../http/refusal.ts';
import { checkMinutes } from './rules/authentication.ts';
import { checkComponents } from './rules/components.ts';
import { at, type Category, fault, isPart, type Judged, type TemplateDraft } from './rules/draft.ts';
import {
  CategorySchema,
  ComponentsSchema,
  checkSources,
  OptimizationSpecSchema,
  urlChangeFaults,
} from './template-request.ts';

/** One pair or a list of them (D13). */
const PairsSchema = v.pipe(
  v.unknown(),
  v.transform((given) => (Array.isArray(given) ? given : [given])),
  boundedList(PairSchema, maxPairs),
);

/** The body of POST /v1/templates/{did}; strict, because a misunderstood field costs a review (D6). */
export const TemplatesCreateBody = closedObject({
  name: v.pipe(v.string(), v.regex(/^[a-z0-9_]{1,512}$/, 'name must be 1 to 512 characters of a-z, 0-9 and _')),
  language: v.pipe(
    v.string(),
    v.regex(/^[a-z]{2,3}(?:_[A-Z]{2,3})?$/, 'language must be a code such as es, en_US or pt_BR'),
  ),
  category: CategorySchema,
  components: ComponentsSchema,
  parameter_format: v.optional(
    v.pipe(
      v.string(),
      v.toUpperCase(),
      v.literal('POSITIONAL', 'parameter_format must be positional; named parameters are not supported'),
    ),
  ),
  client_id: v.optional(v.unknown()),
  channel_campaigns: v.optional(PairsSchema),
  optimization_spec: v.optional(OptimizationSpecSchema),
  allow_button_url_change: v.optional(v.boolean()),
  allow_category_change: v.optional(v.boolean()),
  add_security_recommendation: v.optional(v.boolean()),
  code_expiration_minutes: v.optional(v.number()),
  message_send_ttl_seconds: v.optional(v.pipe(v.number(), v.safeInteger('must be a whole number of seconds'))),
  country: v.optional(
    v.pipe(v.string(), v.toUpperCase(), v.regex(/^[A-Z]{2}$/, 'country must be a code of two letters')),
  ),
});

export interface CreateRequest {
  readonly name: string;
  readonly language: string;
  readonly draft: TemplateDraft;
  /** Still to be checked by `askedClientId`. */
  readonly clientId: unknown;
  /** Pairs to assign at once, each once; none leaves the placeholder (D13). */
  readonly pairs: readonly Pair[];
  readonly country?: string | undefined;
  /** Static URL buttons are to become redirects (D19). */
  readonly urlChange: boolean;
  /** Fields that the platform takes as they came. */
  readonly passedOn: Readonly<Record<string, unknown>>;
}

/**
 * Reads the body of a creation. Refuses with one 400 that lists every fault, those of the components among them (D18), and
 * a wish for redirects where none are offered.
 */
export function parseCreateRequest(
  body: unknown,
  { fileAttached, redirectsOffered = false }: { readonly fileAttached: boolean; readonly redirectsOffered?: boolean },
): CreateRequest {
  const faults = new FaultList();
  const parsed = v.safeParse(TemplatesCreateBody, body);
  for (const issue of parsed.issues ?? []) faults.add(faultOf(issue));
  const asked = isPart(body) ? body['allow_button_url_change'] : undefined;
  for (const wrongWish of urlChangeFaults(asked, { offered: redirectsOffered })) faults.add(wrongWish);
  checkRules(body, fileAttached, faults);
  refuseFaults(faults.listed(), faults.message);
  const request = parsed.output as v.InferOutput<typeof TemplatesCreateBody>;
  const { message_send_ttl_seconds, allow_category_change, optimization_spec } = request;
  return {
    name: request.name,
    language: request.language,
    draft: draftOf(request, fileAttached),
    clientId: request.client_id,
    pairs: eachOnce(request.channel_campaigns ?? []),
    country: request.country,
    urlChange: request.allow_button_url_change === true,
    passedOn: defined({ message_send_ttl_seconds, allow_category_change, optimization_spec }),
  };
}

/** The fields that the rules are about, judged also when another field is wrong. */
const RuledFields = v.object({
  category: CategorySchema,
  components: ComponentsSchema,
  add_security_recommendation: v.fallback(v.optional(v.boolean()), undefined),
  code_expiration_minutes: v.fallback(v.optional(v.number()), undefined),
  message_send_ttl_seconds: v.fallback(v.optional(v.pipe(v.number(), v.safeInteger())), undefined),
});

function checkRules(body: unknown, fileAttached: boolean, faults: FaultList): void {
  const ruled = v.safeParse(RuledFields, body);
  if (!ruled.success) return;
  const root: Judged = { path: '', faults };
  const draft = draftOf(ruled.output, fileAttached);
  const { message_send_ttl_seconds: ttlSeconds } = ruled.output;
  if (ttlSeconds !== undefined) checkTtl(draft.category, ttlSeconds, at(root, 'message_send_ttl_seconds'));
  checkCodeFields(draft, root);
  const components = at(root, 'components');
  checkComponents(draft, components);
  checkSources(draft.components, components);
}

function checkCodeFields(draft: TemplateDraft, root: Judged): void {
  const minutes = at(root, 'code_expiration_minutes');
  if (draft.category === 'AUTHENTICATION') {
    if (draft.codeExpirationMinutes !== undefined) checkMinutes(draft.codeExpirationMinutes, minutes);
    return;
  }
  if (draft.codeExpirationMinutes !== undefined) fault(minutes, 'is for AUTHENTICATION templates only');
  if (draft.addSecurityRecommendation === true) {
    fault(at(root, 'add_security_recommendation'), 'is for AUTHENTICATION templates only');
  }
}

/** Seconds by category (contract, Limits). */
const ttlRange: Readonly<
  Record<Category, { readonly min: number; readonly max: number; readonly thirtyDays: boolean }>
> = {
  AUTHENTICATION: { min: 30, max: 900, thirtyDays: true },
  UTILITY: { min: 30, max: 43_200, thirtyDays: true },
  MARKETING: { min: 43_200, max: 2_592_000, thirtyDays: false },
};

function checkTtl(category: Category, seconds: number, judged: Judged): void {
  const { min, max, thirtyDays } = ttlRange[category];
  if ((seconds >= min && seconds <= max) || (thirtyDays && seconds === -1)) return;
  fault(judged, `${min} to ${max} seconds in ${category}${thirtyDays ? ', or -1' : ''}, received ${seconds}`);
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
  const { category, components, code_expiration_minutes: minutes, add_security_recommendation: advice } = request;
  return {
    category,
    components,
    fileAttached,
    ...(minutes === undefined ? {} : { codeExpirationMinutes: minutes }),
    ...(advice === undefined ? {} : { addSecurityRecommendation: advice }),
  };
}

function defined(fields: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

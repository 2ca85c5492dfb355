import * as v from 'valibot';
import { ClientIdJson } from '../../access/operating-client.ts';
import { boundedList, closedObject } from '../../http/closed-object.ts';
import { documentedAs, inAnyLetterCase } from '../../http/documented.ts';
import { FaultList } from '../../http/fault-list.ts';
import { isPart } from '../../http/json-part.ts';
import { faultOf } from '../../http/parse.ts';
import { refuseFaults } from '../../http/refusal.ts';
import { present } from '../../keys/present.ts';
import { isCountry } from '../../pricing/country.ts';
import { maxPairs, PairSchema } from '../assignments/assignment-request.ts';
import { eachOnce, type Pair } from '../assignments/pairs.ts';
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
import { at, type Category, type Judged, shown, type TemplateDraft } from '../rules/draft.ts';
import { checkSettings } from '../rules/settings.ts';

/** One pair or a list of them (D13). */
const PairsSchema = v.pipe(
  v.unknown(),
  v.transform((given) => (Array.isArray(given) ? given : [given])),
  boundedList(PairSchema, maxPairs),
  documentedAs(() => v.union([PairSchema, boundedList(PairSchema, maxPairs)])),
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
  country: v.optional(
    v.pipe(
      v.string(),
      v.check(isCountry, ({ input }) => `country must be an ISO 3166-1 alpha-2 code, received ${shown(input)}`),
      v.toUpperCase(),
    ),
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
 * a wish for redirects where none are offered; what is nested too deep before all else.
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
  message_send_ttl_seconds: v.fallback(v.optional(TimeToLiveSchema), undefined),
  allow_button_url_change: v.fallback(v.optional(v.boolean()), undefined),
});

function checkRules(body: unknown, fileAttached: boolean, faults: FaultList): void {
  const ruled = v.safeParse(RuledFields, body);
  if (!ruled.success) return;
  const root: Judged = { path: '', faults };
  const draft = draftOf(ruled.output, fileAttached);
  checkSettings(draft, ruled.output.message_send_ttl_seconds, root);
  const components = at(root, 'components');
  checkComponents(draft, components);
  checkSources(draft.components, components);
  if (ruled.output.allow_button_url_change === true) checkRedirectTargets(draft.components, components);
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
    ...present({ codeExpirationMinutes: minutes, addSecurityRecommendation: advice }),
  };
}

function defined(fields: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

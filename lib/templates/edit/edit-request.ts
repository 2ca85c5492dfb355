import * as v from 'valibot';
import { ClientIdJson, clientIdFaults } from '../../access/operating-client.ts';
import { closedObject } from '../../http/closed-object.ts';
import { FaultList } from '../../http/fault-list.ts';
import { isPart, type Part } from '../../http/json-part.ts';
import { faultOf } from '../../http/parse.ts';
import { type Fault, refuseFaults } from '../../http/refusal.ts';
import {
  CategorySchema,
  ComponentsSchema,
  OptimizationSpecSchema,
  TimeToLiveSchema,
  urlChangeFaults,
} from '../authoring/template-request.ts';
import type { Category } from '../rules/draft.ts';

/**
 * It is strict as a creation's, also as part `template` of a form (D6). Name and language are accepted and ignored.
 * Three fields of a creation can be edited too (D20).
 */
export const TemplatesEditBody = closedObject({
  name: v.optional(v.string()),
  language: v.optional(v.string()),
  category: v.optional(CategorySchema),
  components: ComponentsSchema,
  client_id: ClientIdJson,
  allow_button_url_change: v.optional(v.boolean()),
  optimization_spec: v.optional(OptimizationSpecSchema),
  message_send_ttl_seconds: v.optional(TimeToLiveSchema),
  code_expiration_minutes: v.optional(v.number()),
  add_security_recommendation: v.optional(v.boolean()),
});

export interface EditRequest {
  /** `askedClientId` checks it later. */
  readonly clientId: unknown;
  readonly category?: Category | undefined;
  /** The components are unchecked: the rules need the template's category. */
  readonly components: readonly unknown[];
  /** On request static URL buttons become redirects (D19). */
  readonly urlChange: boolean;
  readonly optimizationSpec?: Part | undefined;
  readonly timeToLiveSeconds?: number | undefined;
  readonly codeExpirationMinutes?: number | undefined;
  readonly addSecurityRecommendation?: boolean | undefined;
}

const creationOnly = ['parameter_format', 'channel_campaigns', 'allow_category_change', 'country'];

/**
 * Refuses with one 400 that lists every fault: also creation-only fields, a bid without components, redirects where
 * none are offered, and, beside others, a bad `client_id`. Components are checked later.
 */
export function parseEditRequest(
  body: unknown,
  {
    redirectsOffered,
    queryClientId,
  }: { readonly redirectsOffered: boolean; readonly queryClientId?: string | undefined },
): EditRequest {
  const given: Part = isPart(body) ? body : {};
  const parsed = v.safeParse(TemplatesEditBody, body);
  const own = [...creationFaults(given), ...bidFaults(given)];
  // The schema reports these fields only as unknown or absent.
  const others = (parsed.issues ?? []).map(faultOf).filter(({ path }) => !own.some((each) => each.path === path));
  const redirects = urlChangeFaults(given['allow_button_url_change'], { offered: redirectsOffered });
  const faults = new FaultList();
  for (const each of [...own, ...others, ...redirects]) faults.add(each);
  const clientIds = { query: queryClientId, body: given['client_id'] };
  // A bad client_id alone has a refusal code of its own.
  if (faults.count > 0) for (const wrongClient of clientIdFaults(clientIds)) faults.add(wrongClient);
  refuseFaults(faults.listed(), faults.message);
  const request = parsed.output as v.InferOutput<typeof TemplatesEditBody>;
  return {
    clientId: request.client_id,
    category: request.category,
    components: request.components,
    urlChange: request.allow_button_url_change === true,
    optimizationSpec: request.optimization_spec,
    timeToLiveSeconds: request.message_send_ttl_seconds,
    codeExpirationMinutes: request.code_expiration_minutes,
    addSecurityRecommendation: request.add_security_recommendation,
  };
}

function creationFaults(body: Part): Fault[] {
  return creationOnly
    .filter((path) => Object.hasOwn(body, path))
    .map((path) => ({ path, message: `${path} can be given only when a template is created` }));
}

function bidFaults({ components, optimization_spec: spec }: Part): Fault[] {
  if (components !== undefined || spec === undefined) return [];
  const message = 'components is required, also when only optimization_spec changes: send the components as listed';
  return [{ path: 'components', message }];
}

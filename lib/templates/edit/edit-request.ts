import * as v from 'valibot';
import { ClientIdJson } from '../../access/operating-client.ts';
import { closedObject } from '../../http/closed-object.ts';
import { isPart, type Part } from '../../http/json-part.ts';
import { parse } from '../../http/parse.ts';
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
 * The body of PUT /v1/templates/{did}/{messageTemplateId}, also as part `template` of a form; strict as that of a
 * creation (D6). A template's name and language never change: both are read, and ignored. Three fields of a creation are
 * taken too, those that the platform lets one edit (D20).
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
  /** Still to be checked by `askedClientId`. */
  readonly clientId: unknown;
  readonly category?: Category | undefined;
  /** Whatever came: the rules need the template's category. */
  readonly components: readonly unknown[];
  /** Static URL buttons are to become redirects (D19). */
  readonly urlChange: boolean;
  readonly optimizationSpec?: Part | undefined;
  readonly timeToLiveSeconds?: number | undefined;
  readonly codeExpirationMinutes?: number | undefined;
  readonly addSecurityRecommendation?: boolean | undefined;
}

const creationOnly = ['parameter_format', 'channel_campaigns', 'allow_category_change', 'country'];

/**
 * Reads the body of an edit. Refuses with 400 what is nested too deep, fields that only a creation has, a change of the bid
 * without the components, and a wish for redirects where none are offered.
 */
export function parseEditRequest(
  body: unknown,
  { redirectsOffered }: { readonly redirectsOffered: boolean },
): EditRequest {
  if (isPart(body)) refuseFaults([...creationFaults(body), ...bidFaults(body)]);
  const { allow_button_url_change, ...request } = parse(TemplatesEditBody, body);
  const urlChange = allow_button_url_change === true;
  refuseFaults(urlChangeFaults(urlChange, { offered: redirectsOffered }));
  return {
    clientId: request.client_id,
    category: request.category,
    components: request.components,
    urlChange,
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

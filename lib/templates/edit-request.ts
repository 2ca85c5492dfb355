import * as v from 'valibot';
import { closedObject } from '../http/closed-object.ts';
import { CategorySchema, ComponentsSchema, OptimizationSpecSchema } from './template-request.ts';

/**
 * The body of PUT /v1/templates/{did}/{messageTemplateId}, also as part `template` of a form; strict as that
 * of a creation (D6). A template's name and language never change: both are read, and ignored.
 */
export const TemplatesEditBody = closedObject({
  name: v.optional(v.string()),
  language: v.optional(v.string()),
  category: v.optional(CategorySchema),
  components: ComponentsSchema,
  client_id: v.optional(v.unknown()),
  allow_button_url_change: v.optional(v.boolean()),
  optimization_spec: v.optional(OptimizationSpecSchema),
});

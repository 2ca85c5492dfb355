import * as v from 'valibot';
import { ControlError } from './control-error.ts';
import type { World } from './state.ts';
import { type Template, type TemplateFields, TemplateFieldsSchema, timeText } from './templates/template.ts';
import { numberUpdates } from './webhooks/number-updates.ts';

const NewTemplatesSchema = v.strictObject({
  waba_id: v.string(),
  templates: v.pipe(v.array(TemplateFieldsSchema), v.minLength(1), v.maxLength(10_000)),
});
const TemplateChangesSchema = v.looseObject({ id: v.optional(v.never('cannot be changed')) });

const NumberTextSchema = v.optional(v.nullable(v.string()));
const NumberChangesSchema = v.strictObject({
  status: NumberTextSchema,
  quality_rating: NumberTextSchema,
  messaging_limit_tier: NumberTextSchema,
  whatsapp_business_manager_messaging_limit: NumberTextSchema,
  last_onboarded_time: NumberTextSchema,
  throughput: v.optional(v.strictObject({ level: v.picklist(['STANDARD', 'HIGH', 'NOT_APPLICABLE']) })),
  is_on_biz_app: v.optional(v.boolean()),
  health_status: v.optional(v.nullable(v.looseObject({ can_send_message: v.string() }))),
  webhook_configuration: v.optional(v.nullable(v.record(v.string(), v.string()))),
});

const WabaChangesSchema = v.strictObject({
  marketing_messages_onboarding_status: v.optional(v.nullable(v.string())),
  disable_marketing_messages_on_cloud_api: v.optional(v.nullable(v.boolean())),
  direct_send: v.optional(v.nullable(v.picklist(['ENABLED', 'BLOCKED']))),
});

export function templateOf(world: World, id: string): Template {
  const template = world.templates.get(id);
  if (template === undefined) throw new ControlError(404, 'id', `${id} is no template`);
  return template;
}

export function addTemplates(world: World, body: unknown): unknown {
  const { waba_id: wabaId, templates } = v.parse(NewTemplatesSchema, body);
  if (!world.wabas.has(wabaId)) throw new ControlError(400, 'waba_id', `${wabaId} is no WABA`);
  const seen = new Set<string>();
  templates.forEach(({ name, language }, index) => {
    const taken = world.templates.find(wabaId, name, language) !== undefined || seen.has(`${name}/${language}`);
    if (taken) throw new ControlError(400, `templates.${index}.name`, `${name} exists in ${language}`);
    seen.add(`${name}/${language}`);
  });
  return { ids: templates.map((fields) => world.templates.add(wabaId, { ...updated(world), ...fields }).id) };
}

export function changeTemplate(world: World, template: Template, body: unknown): unknown {
  const changes = v.parse(TemplateChangesSchema, body);
  const kept = Object.entries({ ...template.fields, ...updated(world), ...changes }).filter(
    ([, value]) => value !== null,
  );
  const fields: TemplateFields = v.parse(TemplateFieldsSchema, Object.fromEntries(kept));
  const twin = world.templates.find(template.wabaId, fields.name, fields.language);
  if (twin !== undefined && twin.id !== template.id) {
    throw new ControlError(400, 'name', `${fields.name} exists in ${fields.language}`);
  }
  if (fields.status !== template.fields.status) world.lifeCycle.stop(template);
  const changed = world.templates.replace(template, dated(world, fields));
  world.tellTemplate(template, changed, { atMs: world.clock.nowMs() });
  return { id: template.id, ...changed.fields };
}

/** A quality score carries a date. */
function dated(world: World, fields: TemplateFields): TemplateFields {
  const { quality_score: quality } = fields;
  if (quality === undefined) return fields;
  return { ...fields, quality_score: { date: Math.floor(world.clock.nowMs() / 1_000), ...quality } };
}

export function pauseTemplate(world: World, template: Template): unknown {
  const { status } = template.fields;
  if (status !== 'APPROVED') throw new ControlError(400, 'status', `is ${status}: only an APPROVED template is paused`);
  return { id: template.id, status: world.lifeCycle.pause(template, world.clock.nowMs()).fields.status };
}

export function changeNumber(world: World, id: string, body: unknown): unknown {
  const number = world.numbers.get(id);
  if (number === undefined) throw new ControlError(404, 'id', `${id} is no phone number`);
  const before = number.fields;
  const changed = { ...before, ...v.parse(NumberChangesSchema, body) };
  number.fields = Object.fromEntries(Object.entries(changed).filter(([, value]) => value !== null));
  for (const update of numberUpdates(number, before)) world.outbox.add(update, world.clock.nowMs());
  return number.fields;
}

export function changeWaba(world: World, id: string, body: unknown): unknown {
  const waba = world.wabas.get(id);
  if (waba === undefined) throw new ControlError(404, 'id', `${id} is no WABA`);
  const { direct_send: directSend, ...changes } = v.parse(WabaChangesSchema, body);
  waba.fields = Object.fromEntries(
    Object.entries({ ...waba.fields, ...changes }).filter(([, value]) => value !== null),
  );
  // No node of the platform shows whether a WABA has Direct Send.
  if (directSend === null) world.directSend.delete(id);
  else if (directSend !== undefined) world.directSend.set(id, directSend);
  return waba.fields;
}

function updated(world: World) {
  return { last_updated_time: timeText(world.clock.nowMs()) };
}

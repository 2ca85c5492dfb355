import * as v from 'valibot';
import { FaultSchema, recipientKey } from './faults.ts';
import { requestsKept } from './logs.ts';
import type { World } from './state.ts';
import { reviewMs } from './templates/life-cycle.ts';
import { type Template, type TemplateFields, TemplateFieldsSchema, timeText } from './templates/template.ts';

/** The answer of a control route: always JSON. */
export interface ControlReply {
  readonly status: number;
  readonly body: unknown;
}

export interface ControlRequest {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly body: unknown;
}

/** Where the world lives; a reset puts a new one in its place. */
export interface Simulation {
  readonly world: World;
  reset(): void;
}

interface ControlRoute {
  readonly method: string;
  readonly path: string;
  readonly what: string;
  readonly run: (simulation: Simulation, request: ControlRequest, id: string) => unknown;
}

const LimitSchema = v.optional(
  v.pipe(v.string(), v.regex(/^\d{1,7}$/, 'must be a whole number'), v.transform(Number)),
  '100',
);
const FilterSchema = v.optional(v.string());
const MessagesQuerySchema = v.strictObject({ to: FilterSchema, template: FilterSchema, limit: LimitSchema });
const RequestsQuerySchema = v.strictObject({
  method: v.optional(v.pipe(v.string(), v.toUpperCase(), v.picklist(['GET', 'POST', 'DELETE', 'PUT', 'PATCH']))),
  path: FilterSchema,
  limit: LimitSchema,
});
const hundredYearsInSeconds = 3_155_760_000;
const ClockSchema = v.strictObject({
  advance_seconds: v.pipe(v.number(), v.minValue(0), v.maxValue(hundredYearsInSeconds)),
});
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
  webhook_configuration: v.optional(v.nullable(v.record(v.string(), v.string()))),
});

/** The control interface; the page at `/` shows this table. */
export const controlRoutes: readonly ControlRoute[] = [
  {
    method: 'GET',
    path: '/_control/messages',
    what: 'accepted messages, newest first: ?to=&template=&limit= (limit 100 unless told; total is exact)',
    run: ({ world }, { query }) => {
      const { to, ...rest } = v.parse(MessagesQuerySchema, given(query));
      return world.messages.find({ ...rest, to: to === undefined ? undefined : recipientKey(to) });
    },
  },
  {
    method: 'GET',
    path: '/_control/requests',
    what: `platform requests, newest first: ?method=&path=&limit= (path: any part of it; the newest ${requestsKept} are kept)`,
    run: ({ world }, { query }) => world.requests.find(v.parse(RequestsQuerySchema, given(query))),
  },
  {
    method: 'GET',
    path: '/_control/catalogs',
    what: 'catalogs: id, waba_id, name, and how many products they have',
    run: ({ world }) => ({
      data: [...world.catalogs.values()].map(({ id, wabaId, fields, products }) => ({
        id,
        waba_id: wabaId,
        name: fields['name'],
        total: products.length,
      })),
    }),
  },
  {
    method: 'POST',
    path: '/_control/reset',
    what: 'back to the seed: no messages, requests, faults or counters, real time',
    run: (simulation) => {
      simulation.reset();
      return { success: true };
    },
  },
  {
    method: 'POST',
    path: '/_control/faults',
    what: 'misbehave: {match: {path?, to?}, action: {status?, code?, subcode?, html?, delay_ms?, drop?: "before"|"after"}, times?}',
    run: ({ world }, { body }) => {
      world.faults.add(v.parse(FaultSchema, body));
      return { success: true, faults: world.faults.size };
    },
  },
  {
    method: 'DELETE',
    path: '/_control/faults',
    what: 'behave again',
    run: ({ world }) => {
      world.faults.clear();
      return { success: true, faults: 0 };
    },
  },
  {
    method: 'POST',
    path: '/_control/clock',
    what: `let time pass: {advance_seconds}; a review takes ${reviewMs / 1_000}`,
    run: ({ world }, { body }) => {
      world.clock.advance(v.parse(ClockSchema, body).advance_seconds);
      return { now: new Date(world.clock.nowMs()).toISOString(), advanced_seconds: world.clock.addedSeconds };
    },
  },
  {
    method: 'POST',
    path: '/_control/templates',
    what: 'add templates: {waba_id, templates: [{name, language, category, components, status?, ...}]}',
    run: ({ world }, { body }) => addTemplates(world, v.parse(NewTemplatesSchema, body)),
  },
  {
    method: 'POST',
    path: '/_control/templates/{id}',
    what: 'change a template, and stop its review or pause when that changes its status: {status?, quality_score?, components?, ...}; null removes an optional field',
    run: ({ world }, { body }, id) => changeTemplate(world, templateOf(world, id), body),
  },
  {
    method: 'POST',
    path: '/_control/templates/{id}/pause',
    what: 'pause an approved template for its quality: 3 hours, the second time 6; the third time it is disabled',
    run: ({ world }, _, id) => pauseTemplate(world, templateOf(world, id)),
  },
  {
    method: 'DELETE',
    path: '/_control/templates/{id}',
    what: 'forget a template',
    run: ({ world }, _, id) => {
      world.templates.remove(templateOf(world, id));
      return { success: true };
    },
  },
  {
    method: 'POST',
    path: '/_control/numbers/{id}',
    what: 'change a phone number: {status?, quality_rating?, whatsapp_business_manager_messaging_limit?, ...}; null removes a field',
    run: ({ world }, { body }, id) => changeNumber(world, id, body),
  },
];

/** Answers a control request: 200, 400 naming the field, 404 for an unknown route, template or number, 405. */
export function answerControl(simulation: Simulation, request: ControlRequest): ControlReply {
  const [, nodes, id = '', rest = ''] = /^\/_control\/(templates|numbers)\/([^/]+)(\/.*)?$/.exec(request.path) ?? [];
  const path = id === '' ? request.path : `/_control/${nodes}/{id}${rest}`;
  const here = controlRoutes.filter((route) => route.path === path);
  const route = here.find((candidate) => candidate.method === request.method);
  if (here.length === 0) {
    return { status: 404, body: { message: `there is no ${request.path}; GET / lists the routes` } };
  }
  if (route === undefined) {
    return { status: 405, body: { message: `${path} takes ${here.map((one) => one.method).join(' and ')}` } };
  }
  try {
    return { status: 200, body: route.run(simulation, request, id) };
  } catch (error) {
    if (error instanceof ControlError) {
      return { status: error.status, body: { message: `${error.field} ${error.message}`, field: error.field } };
    }
    if (error instanceof v.ValiError) {
      const field = v.getDotPath(error.issues[0]) ?? 'body';
      return { status: 400, body: { message: `${field}: ${error.issues[0].message}`, field } };
    }
    throw error;
  }
}

class ControlError extends Error {
  readonly status: number;
  readonly field: string;

  constructor(status: number, field: string, message: string) {
    super(message);
    this.status = status;
    this.field = field;
  }
}

/** The query's values; one left empty counts as not given. */
function given(query: URLSearchParams): Record<string, string> {
  return Object.fromEntries([...query].filter(([, value]) => value !== ''));
}

function templateOf(world: World, id: string): Template {
  const template = world.templates.get(id);
  if (template === undefined) throw new ControlError(404, 'id', `${id} is no template`);
  return template;
}

function addTemplates(world: World, added: v.InferOutput<typeof NewTemplatesSchema>): unknown {
  const { waba_id: wabaId, templates } = added;
  if (!world.wabas.has(wabaId)) throw new ControlError(400, 'waba_id', `${wabaId} is no WABA`);
  const seen = new Set<string>();
  templates.forEach(({ name, language }, index) => {
    const taken = world.templates.find(wabaId, name, language) !== undefined || seen.has(`${name}/${language}`);
    if (taken) throw new ControlError(400, `templates.${index}.name`, `${name} exists in ${language}`);
    seen.add(`${name}/${language}`);
  });
  return { ids: templates.map((fields) => world.templates.add(wabaId, { ...updated(world), ...fields }).id) };
}

function changeTemplate(world: World, template: Template, body: unknown): unknown {
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
  return { id: template.id, ...world.templates.replace(template, fields).fields };
}

function pauseTemplate(world: World, template: Template): unknown {
  const { status } = template.fields;
  if (status !== 'APPROVED') throw new ControlError(400, 'status', `is ${status}: only an APPROVED template is paused`);
  return { id: template.id, status: world.lifeCycle.pause(template, world.clock.nowMs()).fields.status };
}

function changeNumber(world: World, id: string, body: unknown): unknown {
  const number = world.numbers.get(id);
  if (number === undefined) throw new ControlError(404, 'id', `${id} is no phone number`);
  const changed = { ...number.fields, ...v.parse(NumberChangesSchema, body) };
  number.fields = Object.fromEntries(Object.entries(changed).filter(([, value]) => value !== null));
  return number.fields;
}

function updated(world: World) {
  return { last_updated_time: timeText(world.clock.nowMs()) };
}

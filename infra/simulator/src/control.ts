import * as v from 'valibot';
import { attemptRoutes } from './attempt-routes.ts';
import { consoleRoutes } from './console-routes.ts';
import {
  addTemplates,
  changeNumber,
  changeTemplate,
  changeWaba,
  pauseTemplate,
  templateOf,
} from './control-changes.ts';
import { ControlError } from './control-error.ts';
import { type ControlRoute, givenParameters } from './control-route.ts';
import { FaultSchema, recipientKey } from './faults.ts';
import { holdRoutes } from './hold-routes.ts';
import { inboxRoutes } from './inbox/inbox-routes.ts';
import { requestsKept } from './logs.ts';
import { peopleRoutes } from './people-routes.ts';
import { businessRoutes } from './portfolios/business-routes.ts';
import { describeSending } from './sending/describe-sending.ts';
import { serviceRoutes } from './service-routes.ts';
import { reviewMs } from './templates/life-cycle.ts';
import { tokenRoutes } from './token-routes.ts';
import { addReceiptRule, changeApp, listDeliveries, planUpdate } from './webhooks/control-webhooks.ts';
import { deliveriesKept } from './webhooks/delivery-log.ts';
import { usualCourse } from './webhooks/receipts.ts';

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
const LimitQuerySchema = v.strictObject({ limit: LimitSchema });
const hundredYearsInSeconds = 3_155_760_000;
const ClockSchema = v.strictObject({
  advance_seconds: v.pipe(v.number(), v.minValue(0), v.maxValue(hundredYearsInSeconds)),
});

export const controlRoutes: readonly ControlRoute[] = [
  {
    method: 'GET',
    path: '/_control/messages',
    what: 'accepted messages, newest first: ?to=&template=&limit= (limit 100 by default; total is exact)',
    run: ({ world }, { query }) => {
      const { to, ...rest } = v.parse(MessagesQuerySchema, givenParameters(query));
      return world.messages.find({ ...rest, to: to === undefined ? undefined : recipientKey(to) });
    },
  },
  {
    method: 'GET',
    path: '/_control/requests',
    what: `platform requests, newest first: ?method=&path=&limit= (path: any part of it; the newest ${requestsKept} are kept)`,
    run: ({ world }, { query }) => world.requests.find(v.parse(RequestsQuerySchema, givenParameters(query))),
  },
  {
    method: 'GET',
    path: '/_control/sending',
    what: 'how each number was used: calls, accepted, throttled (130429), for each second and at most in any second; message ids accepted twice: ?limit= of them',
    run: ({ world }, { query }) => describeSending(world, v.parse(LimitQuerySchema, givenParameters(query)).limit),
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
    what: 'reset the simulator, back to the seed: no messages, requests, faults, holds, limits in force, stopped people or counters, real time; only callbacks and updates_per_post of apps stay',
    run: (simulation) => {
      simulation.reset();
      return { success: true };
    },
  },
  {
    method: 'POST',
    path: '/_control/faults',
    what: 'add a fault, its id is answered: {match: {method?, path?, to?}, action: {status?, code?, subcode?, html?, delay_ms?, message_status?, drop?: "before"|"after"}, times?}',
    run: ({ world }, { body }) => {
      const id = world.faults.add(v.parse(FaultSchema, body));
      return { success: true, id, faults: world.faults.size };
    },
  },
  {
    method: 'DELETE',
    path: '/_control/faults',
    what: 'remove all faults',
    run: ({ world }) => {
      world.faults.clear();
      return { success: true, faults: 0 };
    },
  },
  {
    method: 'DELETE',
    path: '/_control/faults/{id}',
    what: 'remove one fault, by the id that the overview has',
    run: ({ world }, _, id) => {
      if (!world.faults.remove(id)) throw new ControlError(404, 'id', `${id} is no fault in force`);
      return { success: true, faults: world.faults.size };
    },
  },
  {
    method: 'POST',
    path: '/_control/clock',
    what: `advance the clock: {advance_seconds}; a review takes ${reviewMs / 1_000}. Answers when the webhooks that became due were tried`,
    run: async ({ world, emit }, { body }) => {
      world.clock.advance(v.parse(ClockSchema, body).advance_seconds);
      await emit();
      return { now: new Date(world.clock.nowMs()).toISOString(), advanced_seconds: world.clock.addedSeconds };
    },
  },
  {
    method: 'POST',
    path: '/_control/templates',
    what: 'add templates: {waba_id, templates: [{name, language, category, components, status?, ...}]}',
    run: ({ world }, { body }) => addTemplates(world, body),
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
    what: 'change what a phone number shows: {status?, quality_rating?, whatsapp_business_manager_messaging_limit?, throughput?: {level}, is_on_biz_app?, ...}; null removes a field. A limit in force is one of its business',
    run: ({ world }, { body }, id) => changeNumber(world, id, body),
  },
  {
    method: 'POST',
    path: '/_control/wabas/{id}',
    what: 'change a WABA: {marketing_messages_onboarding_status?, disable_marketing_messages_on_cloud_api?, direct_send?: ENABLED|BLOCKED}; ONBOARDED may use /marketing_messages; null removes a field',
    run: ({ world }, { body }, id) => changeWaba(world, id, body),
  },
  ...tokenRoutes,
  ...holdRoutes,
  ...businessRoutes,
  {
    method: 'GET',
    path: '/_control/webhooks',
    what: `POSTs of webhooks, newest first: ?limit= (limit 100 by default; the newest ${deliveriesKept} are kept), and how many updates are planned, due and given up`,
    run: ({ world }, { query }) => listDeliveries(world, v.parse(LimitQuerySchema, givenParameters(query)).limit),
  },
  {
    method: 'POST',
    path: '/_control/webhooks',
    what: 'send a webhook with any content, account_update for one: {waba_id, field, value, in_seconds?}',
    run: ({ world }, { body }) => planUpdate(world, body),
  },
  {
    method: 'POST',
    path: '/_control/receipts',
    what: `change how statuses come, for messages that match; the id of the rule is answered: {match?: {to?, template?}, course: {${Object.keys(
      usualCourse,
    )
      .map((name) => `${name}?`)
      .join(', ')}}, times?}`,
    run: ({ world }, { body }) => addReceiptRule(world, body),
  },
  {
    method: 'DELETE',
    path: '/_control/receipts',
    what: 'remove all rules for statuses: they come as usual',
    run: ({ world }) => {
      world.receiptRules.clear();
      return { success: true, rules: 0 };
    },
  },
  {
    method: 'DELETE',
    path: '/_control/receipts/{id}',
    what: 'remove one rule for statuses, by the id that the overview has',
    run: ({ world }, _, id) => {
      if (!world.receiptRules.remove(id)) throw new ControlError(404, 'id', `${id} is no rule in force`);
      return { success: true, rules: world.receiptRules.size };
    },
  },
  {
    method: 'POST',
    path: '/_control/apps/{id}',
    what: 'add or change an app: {name?, secret?, callback_url?, fields?, subscribed_waba_ids?, updates_per_post?}; the callback is not asked; null: no callback, every field, 1000 updates',
    run: ({ world }, { body }, id) => changeApp(world, id, body),
  },
  {
    method: 'GET',
    path: '/_control/bill',
    what: 'what was delivered and what it costs by the rate card, by day (UTC), number, country, category and type, and in all',
    run: ({ world }) => world.bill.until(world.clock.nowMs()),
  },
  {
    method: 'GET',
    path: '/_control/routes',
    what: 'every control call, and what it does',
    run: () => ({ data: controlRoutes.map(({ method, path, what }) => ({ method, path, what })) }),
  },
  ...inboxRoutes,
  ...consoleRoutes,
  ...serviceRoutes,
  ...attemptRoutes,
  ...peopleRoutes,
];

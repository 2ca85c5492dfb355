import * as v from 'valibot';
import { templateOf } from './control-changes.ts';
import { ControlError } from './control-error.ts';
import { type ControlRoute, givenParameters } from './control-route.ts';
import { type Exchange, exchangesKept } from './exchanges.ts';
import { holdsView } from './hold-routes.ts';
import { magicRecipients } from './magic-recipients.ts';
import { businessesView } from './portfolios/business-routes.ts';
import { refusedId } from './refused-log.ts';
import type { World } from './state.ts';
import { magicWords } from './templates/magic-words.ts';
import type { Template } from './templates/template.ts';

const LimitQuerySchema = v.strictObject({
  limit: v.optional(
    v.pipe(v.string(), v.regex(/^\d{1,5}$/, 'must be a whole number'), v.transform(Number)),
    String(exchangesKept),
  ),
});

export const consoleRoutes: readonly ControlRoute[] = [
  {
    method: 'GET',
    path: '/_control/overview',
    what: 'the clock, the faults, rules, holds, paused templates, limits and pacing in force, who has stopped, numbers, WABAs, businesses and apps, magic recipients and words',
    run: ({ world }) => overviewOf(world),
  },
  {
    method: 'GET',
    path: '/_control/templates',
    what: 'every template as a row of a list, in order of creation',
    run: ({ world }) => ({ total: world.templates.size, data: world.templates.all().map(templateRow) }),
  },
  {
    method: 'GET',
    path: '/_control/templates/{id}',
    what: 'a template as the platform shows it',
    run: ({ world }, _, id) => {
      const template = templateOf(world, id);
      return { ...templateRow(template), fields: template.fields, components: template.components };
    },
  },
  {
    method: 'GET',
    path: '/_control/exchanges',
    what: `platform requests with the status that each got, newest first: ?limit= (the newest ${exchangesKept} are kept)`,
    run: ({ world }, { query }) => ({
      total: world.exchanges.total,
      data: world.exchanges.newest(v.parse(LimitQuerySchema, givenParameters(query)).limit).map(exchangeRow),
    }),
  },
  {
    method: 'GET',
    path: '/_control/exchanges/{id}',
    what: 'one of them whole: the request, what it got, and the id of its message or refused send in the inbox',
    run: ({ world }, _, id) => {
      const exchange = /^\d{1,9}$/.test(id) ? world.exchanges.get(Number(id)) : undefined;
      if (exchange === undefined) throw new ControlError(404, 'id', `${id} is no request that is kept`);
      const [refused] = world.messages.refused.find(({ exchangeId }) => exchangeId === exchange.id);
      const message = refused ? refusedId(refused) : fieldOf(exchange.reply?.body, 'messages', 0, 'id');
      return { ...exchangeRow(exchange), message, request: exchange.request, reply: exchange.reply ?? null };
    },
  },
];

function overviewOf(world: World) {
  return {
    now_ms: world.clock.nowMs(),
    advanced_seconds: world.clock.addedSeconds,
    counts: {
      messages: world.messages.total,
      recipients: world.messages.recipients,
      requests: world.requests.total,
      templates: world.templates.size,
      webhooks: world.deliveries.total,
      planned: world.outbox.waiting.planned,
      due: world.outbox.waiting.due,
    },
    faults: world.faults.all(),
    receipts: world.receiptRules.all(),
    blocked: [...world.blocked],
    stopped: world.preferences.all(world.clock.nowMs()),
    threads: world.threads.owned(world.clock.nowMs()),
    businesses: businessesView(world),
    paused: world.templates.all().flatMap((template) => pausedView(world, template)),
    wabas: [...world.wabas.values()].map(({ id, fields }) => ({ id, fields, holds: holdsView(world, id) })),
    numbers: [...world.numbers.values()].map(({ id, wabaId, fields }) => ({
      ...{ id, waba_id: wabaId, fields },
      holds: holdsView(world, id),
    })),
    apps: world.apps.all().map(({ id, name, callback }) => ({ id, name, callback: callback ?? null })),
    magic_recipients: magicRecipients.map(({ to, what }) => ({ to, what })),
    magic_words: magicWords,
  };
}

/** Only a control call ends the pause when `until` is null. */
function pausedView(
  world: World,
  { id, wabaId, fields: { name, language, status, last_updated_time: since } }: Template,
) {
  if (status !== 'PAUSED') return [];
  const untilMs = world.lifeCycle.nextOf(id);
  const until = untilMs === undefined ? null : new Date(untilMs).toISOString();
  return [{ id, waba_id: wabaId, name, language, since: since ?? null, until }];
}

function templateRow({ id, wabaId, fields }: Template) {
  return {
    id,
    waba_id: wabaId,
    name: fields.name,
    language: fields.language,
    category: fields.category,
    status: fields.status,
    quality: fields.quality_score?.score ?? 'UNKNOWN',
    rejected_reason: fields['rejected_reason'] ?? 'NONE',
  };
}

function exchangeRow({ id, request, reply }: Exchange) {
  const { method, path, status, received_at, body } = request;
  return {
    ...{ id, method, path, status, received_at },
    to: fieldOf(body, 'to') ?? fieldOf(body, 'recipient'),
    template: fieldOf(body, 'template', 'name'),
    code: fieldOf(reply?.body, 'error', 'code'),
  };
}

/** Returns null when untyped data has no text or number at the path. */
function fieldOf(value: unknown, ...path: readonly (string | number)[]): string | number | null {
  const found = path.reduce<unknown>(
    (inside, key) => (typeof inside === 'object' && inside !== null ? Reflect.get(inside, key) : undefined),
    value,
  );
  return typeof found === 'string' || typeof found === 'number' ? found : null;
}

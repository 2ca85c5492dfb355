import * as v from 'valibot';
import { type ControlRoute, givenParameters } from './control-route.ts';
import { personActsKept } from './people-log.ts';
import type { World } from './state.ts';

const LimitQuerySchema = v.strictObject({
  limit: v.optional(
    v.pipe(v.string(), v.regex(/^\d{1,5}$/, 'must be a whole number'), v.transform(Number)),
    String(personActsKept),
  ),
});

const MarkQuerySchema = v.strictObject({ mark: v.string() });

export const peopleRoutes: readonly ControlRoute[] = [
  {
    method: 'GET',
    path: '/_control/people',
    what: `what people did on their phones, newest first: answers, taps, texts of their own, and what they say about marketing, each with the mark of the message that it answers: ?limit= (the newest ${personActsKept} are kept)`,
    run: ({ world }, { query }) => ({
      total: world.personActs.total,
      data: world.personActs
        .newest(v.parse(LimitQuerySchema, givenParameters(query)).limit, world.clock.nowMs())
        .map((act) => ({
          ...act,
          number: world.numbers.get(act.phone_number_id)?.digits ?? '',
          ...answeredBy(world, act.message),
        })),
    }),
  },
  {
    method: 'GET',
    path: '/_control/marked',
    what: 'how many accepted messages carry a mark of the service: ?mark= of a message, or a dispatch; id of the newest, and the digits of the number that sent it',
    run: ({ world }, { query }) => {
      const { mark } = v.parse(MarkQuerySchema, givenParameters(query));
      const { data } = world.messages.find({ limit: Number.POSITIVE_INFINITY });
      const found = data.filter(({ request }) => isMarked(request, mark));
      const sender = world.numbers.get(found[0]?.phone_number_id ?? '');
      return { total: found.length, message: found[0]?.id ?? null, number: sender?.digits ?? null };
    },
  },
];

/** The service marks a message with its dispatch id and its place in the dispatch. */
function isMarked(request: unknown, mark: string): boolean {
  const { biz_opaque_callback_data: own } = request as { readonly biz_opaque_callback_data?: unknown };
  return typeof own === 'string' && (own === mark || (own.startsWith(`${mark}-`) && !mark.includes('-')));
}

function answeredBy(world: World, messageId: string | null) {
  const entry = messageId === null ? undefined : world.messages.get(messageId);
  const template = entry?.content.kind === 'template' ? entry.content.template.fields.name : '';
  return { mark: entry?.accepted.callbackData ?? null, template };
}

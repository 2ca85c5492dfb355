import * as v from 'valibot';
import { type ControlRoute, givenParameters } from './control-route.ts';
import { AttemptSchema, attemptsKept } from './event-attempts.ts';

const LimitQuerySchema = v.strictObject({
  limit: v.optional(
    v.pipe(v.string(), v.regex(/^\d{1,5}$/, 'must be a whole number'), v.transform(Number)),
    String(attemptsKept),
  ),
});

export const attemptRoutes: readonly ControlRoute[] = [
  {
    method: 'GET',
    path: '/_control/events',
    what: `what the service told its clients by webhook, each attempt, newest first: ?limit= (the newest ${attemptsKept} are kept)`,
    run: ({ attempts }, { query }) => ({
      total: attempts.total,
      data: attempts.newest(v.parse(LimitQuerySchema, givenParameters(query)).limit).map(({ event, ...attempt }) => ({
        ...{ id: attempt.id, at: attempt.at, outcome: event.slice('webhook.'.length), code: attempt.code ?? null },
        ...{ dispatch_id: attempt.dispatchId ?? null, message_id: attempt.messageId ?? null },
        ...{ client_id: attempt.clientId, event_id: attempt.eventId ?? null, kind: attempt.eventType ?? null },
        ...{ attempt: attempt.attempt ?? null, duration_ms: attempt.durationMs ?? null },
      })),
    }),
  },
  {
    method: 'POST',
    path: '/_control/events',
    what: 'say what the log of the service says of one attempt, as npm start does',
    run: ({ attempts }, { body }) => {
      attempts.add(v.parse(AttemptSchema, body));
      return { success: true };
    },
  },
];

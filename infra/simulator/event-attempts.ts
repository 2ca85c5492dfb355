import * as v from 'valibot';
import { type ControlRoute, given } from './control-route.ts';

/** One attempt of the service to tell a client an event, as its log says. */
const AttemptSchema = v.object({
  event: v.picklist([
    'webhook.delivered',
    'webhook.failed',
    'webhook.gone',
    'webhook.abandoned',
    'webhook.switched_off',
  ]),
  at: v.string(),
  clientId: v.number(),
  eventId: v.optional(v.string()),
  eventType: v.optional(v.string()),
  attempt: v.optional(v.number()),
  code: v.optional(v.string()),
  durationMs: v.optional(v.number()),
});
type Attempt = v.InferOutput<typeof AttemptSchema>;

/** How many are kept: at least this many, at most twice as many. */
const attemptsKept = 2_000;

/** The newest attempts, for whoever looks at them. */
export class EventAttempts {
  #kept: (Attempt & { readonly id: number })[] = [];
  #total = 0;

  get total(): number {
    return this.#total;
  }

  add(attempt: Attempt): void {
    this.#total += 1;
    this.#kept.push({ id: this.#total, ...attempt });
    if (this.#kept.length === 2 * attemptsKept) this.#kept = this.#kept.slice(attemptsKept);
  }

  /** Newest first. */
  newest(limit: number) {
    return limit === 0 ? [] : this.#kept.slice(-limit).reverse();
  }
}

const LimitQuerySchema = v.strictObject({
  limit: v.optional(
    v.pipe(v.string(), v.regex(/^\d{1,5}$/, 'must be a whole number'), v.transform(Number)),
    String(attemptsKept),
  ),
});

/** What the console shows of the service's own webhooks. */
export const attemptRoutes: readonly ControlRoute[] = [
  {
    method: 'GET',
    path: '/_control/events',
    what: `what the service told its clients by webhook, each attempt, newest first: ?limit= (the newest ${attemptsKept} are kept)`,
    run: ({ attempts }, { query }) => ({
      total: attempts.total,
      data: attempts.newest(v.parse(LimitQuerySchema, given(query)).limit).map(({ event, ...attempt }) => ({
        ...{ id: attempt.id, at: attempt.at, outcome: event.slice('webhook.'.length), code: attempt.code ?? null },
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

import * as v from 'valibot';

export const AttemptSchema = v.object({
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
  dispatchId: v.optional(v.string()),
  messageId: v.optional(v.string()),
  attempt: v.optional(v.number()),
  code: v.optional(v.string()),
  durationMs: v.optional(v.number()),
});
type Attempt = v.InferOutput<typeof AttemptSchema>;

/** At least this many are kept, at most twice as many. */
export const attemptsKept = 2_000;

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

  newest(limit: number) {
    return limit === 0 ? [] : this.#kept.slice(-limit).reverse();
  }
}

import * as v from 'valibot';
import { ApiRefusal, call, type DemoClient } from '../../../infra/local/demo/client.ts';
import { type ReportedState, reportedStates } from '../../../lib/messages/receipts/reported-state.ts';
import type { TakenMessage, ToldRecipient } from '../../support/send-audit.ts';

/* What the reports say of dispatches, and what the platform simulator has recorded. */

export interface Dispatch {
  readonly client: DemoClient;
  readonly clientId: number;
  readonly did: string;
  readonly dispatchId: string;
  readonly total: number;
}

export type StateCounts = Readonly<Record<ReportedState, number>>;

/**
 * Returns the sum of the counts of all dispatches each time, undefined when a report failed. A dispatch without pending
 * messages is not read again.
 */
export function countsWatched(dispatches: readonly Dispatch[]): () => Promise<StateCounts | undefined> {
  const known = new Map<string, StateCounts>();
  return async () => {
    try {
      for (const { client, did, dispatchId } of dispatches) {
        if (known.get(dispatchId)?.pending !== 0) known.set(dispatchId, (await client.report(did, dispatchId)).counts);
      }
    } catch (error) {
      // Where the tables failed the acceptance, the worker may write the header of the report later (D40).
      if (error instanceof ApiRefusal && (error.status >= 500 || error.status === 404)) return undefined;
      throw error;
    }
    const sum = (state: ReportedState) => [...known.values()].reduce((all, counts) => all + counts[state], 0);
    return Object.fromEntries(reportedStates.map((state) => [state, sum(state)])) as Record<ReportedState, number>;
  };
}

/** Returns each recipient's row in the reports. */
export async function toldOf(dispatches: readonly Dispatch[]): Promise<readonly ToldRecipient[]> {
  const told: ToldRecipient[] = [];
  for (const { client, did, dispatchId } of dispatches) {
    const rows = await client.rows(did, dispatchId);
    for (const [index, { state, code, to }] of rows.entries()) {
      told.push({ messageId: `${dispatchId}-${index}`, state, code, to });
    }
  }
  return told;
}

const MessagesSchema = v.object({
  data: v.array(v.object({ to: v.string(), request: v.object({ biz_opaque_callback_data: v.optional(v.string()) }) })),
});

/** Returns every message that the simulator took. */
export async function takenAt(platformUrl: string, signal: AbortSignal): Promise<readonly TakenMessage[]> {
  const { json } = await call({ baseUrl: platformUrl, route: 'GET /_control/messages?limit=1000000', signal });
  return v
    .parse(MessagesSchema, json)
    .data.map(({ to, request }) => ({ to, messageId: request.biz_opaque_callback_data }));
}

const SendingSchema = v.object({
  data: v.array(
    v.object({
      phone_number_id: v.string(),
      limit_per_second: v.number(),
      calls: v.number(),
      accepted: v.number(),
      throttled: v.number(),
      most_calls_in_a_second: v.number(),
      most_accepted_in_a_second: v.number(),
      seconds: v.array(v.object({ at: v.string(), accepted: v.number(), throttled: v.number() })),
    }),
  ),
  duplicates: v.object({ total: v.number() }),
});
export type Sending = v.InferOutput<typeof SendingSchema>;

/** Returns the use of the numbers. */
export async function sendingAt(platformUrl: string, signal: AbortSignal): Promise<Sending> {
  const { json } = await call({ baseUrl: platformUrl, route: 'GET /_control/sending?limit=0', signal });
  return v.parse(SendingSchema, json);
}

/** Counts what the simulator has still to tell the service. */
export async function untoldAt(platformUrl: string, signal: AbortSignal): Promise<number> {
  const { json } = await call({ baseUrl: platformUrl, route: 'GET /_control/webhooks?limit=0', signal });
  const { planned, due } = v.parse(v.object({ planned: v.number(), due: v.number() }), json);
  return planned + due;
}

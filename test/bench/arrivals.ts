import { isDeepStrictEqual } from 'node:util';
import * as v from 'valibot';
import { expectedComponents, orderUpdate, type Recipient } from '../../infra/local/demo/audience.ts';
import { call, type DemoStack } from '../../infra/local/demo/client.ts';

/** Compares the messages that reached the platform with those that were to be sent. */
export interface Arrivals {
  /** Counts the messages that a recipient got beyond the first. */
  readonly duplicates: number;
  /** Counts the recipients without a message at the platform. */
  readonly missing: number;
  /** Counts the messages that carry the parameters of another recipient. */
  readonly mixedUp: number;
}

const MessagesSchema = v.object({
  total: v.number(),
  data: v.array(v.object({ to: v.string(), request: v.object({ template: v.object({ components: v.unknown() }) }) })),
});
type Message = v.InferOutput<typeof MessagesSchema>['data'][number];

/**
 * Compares with all messages that the simulator has taken. Messages to other recipients belong to other runs and are
 * left out.
 */
export async function arrivalsOf(
  { platformUrl }: DemoStack,
  recipients: readonly Recipient[],
  signal: AbortSignal,
): Promise<Arrivals> {
  const messages = async (limit: number) => {
    const route = `GET /_control/messages?template=${orderUpdate.name}&limit=${limit}`;
    return v.parse(MessagesSchema, (await call({ baseUrl: platformUrl, route, signal })).json);
  };
  const { total } = await messages(0);
  return compared(recipients, (await messages(total)).data);
}

function compared(recipients: readonly Recipient[], received: readonly Message[]): Arrivals {
  const byNumber = new Map(recipients.map((recipient) => [recipient.to, recipient]));
  const reached = new Set<string>();
  let messages = 0;
  let mixedUp = 0;
  for (const { to, request } of received) {
    const recipient = byNumber.get(to);
    if (recipient === undefined) continue;
    messages += 1;
    reached.add(to);
    if (!isDeepStrictEqual(request.template.components, expectedComponents(recipient))) mixedUp += 1;
  }
  return { duplicates: messages - reached.size, missing: recipients.length - reached.size, mixedUp };
}

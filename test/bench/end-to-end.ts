import { randomInt } from 'node:crypto';
import { audience, demoDid, orderUpdate } from '../../infra/local/demo/audience.ts';
import { logIn, type Report } from '../../infra/local/demo/client.ts';
import { follow } from '../../infra/local/demo/follow-report.ts';
import type { RunningStack } from '../../infra/local/stack.ts';
import { arrivalsOf } from './arrivals.ts';
import { report } from './figure.ts';

const recipientCount = 10_000;
/** A busy machine takes many times as long as an idle one. */
const quietLimitMs = 900_000;
/** Reading so large a report costs more than the messages of one second. */
const everyMs = 2_000;

/**
 * Sends to 10,000 recipients with parameters of their own, from the API through queues and workers to the simulator.
 */
export async function benchEndToEnd({ addresses }: RunningStack, signal: AbortSignal): Promise<void> {
  const client = await logIn(addresses, 'supervisor1001', signal);
  await client.synchronize();
  const recipients = audience(recipientCount, randomInt(10 ** 8));
  const dispatchId = await client.send({ did: demoDid, template: orderUpdate, recipients });
  const isOver = ({ counts }: Report) => counts.pending === 0;
  const { total, counts } = await follow({ client, did: demoDid, dispatchId, quietLimitMs, everyMs, signal, isOver });
  const { missing, duplicates, mixedUp } = await arrivalsOf(addresses, recipients, signal);
  const sent = counts.sent + counts.delivered + counts.read;
  report({ figure: 'end_to_end.accepted', value: total, unit: 'messages' });
  report({ figure: 'end_to_end.sent', value: sent, unit: 'messages' });
  report({ figure: 'end_to_end.lost', value: missing, limit: 0, unit: 'messages' });
  report({ figure: 'end_to_end.duplicates', value: duplicates, limit: 0, unit: 'messages' });
  report({ figure: 'end_to_end.with_other_parameters', value: mixedUp, limit: 0, unit: 'messages' });
  report({ figure: 'end_to_end.not_known_as_sent', value: recipientCount - sent, limit: 0, unit: 'messages' });
}

import { randomInt } from 'node:crypto';
import { audience } from '../../infra/local/demo/audience.ts';
import { logIn } from '../../infra/local/demo/client.ts';
import { mail } from '../../infra/local/demo/mailing.ts';
import type { RunningStack } from '../../infra/local/stack.ts';
import { report } from './figure.ts';

const recipientCount = 10_000;
const limitMs = 240_000;

/** 10,000 recipients with parameters of their own, from the API through queues and workers to the platform simulator. */
export async function benchEndToEnd({ addresses }: RunningStack, signal: AbortSignal): Promise<void> {
  const client = await logIn(addresses, 'supervisor1001', signal);
  await client.synchronize();
  const recipients = audience(recipientCount, randomInt(10 ** 8));
  const { tally, seconds } = await mail({ stack: addresses, client, recipients, limitMs, signal });
  report({ figure: 'end_to_end.accepted', value: tally.accepted, unit: 'messages' });
  report({ figure: 'end_to_end.sent', value: tally.sent, unit: 'messages' });
  report({ figure: 'end_to_end.lost', value: tally.missing, limit: 0, unit: 'messages' });
  report({ figure: 'end_to_end.duplicates', value: tally.duplicates, limit: 0, unit: 'messages' });
  report({ figure: 'end_to_end.with_other_parameters', value: tally.mixedUp, limit: 0, unit: 'messages' });
  const withoutOutcome = recipientCount - tally.sent;
  report({ figure: 'end_to_end.not_known_as_sent', value: withoutOutcome, limit: 0, unit: 'messages' });
  report({ figure: 'end_to_end.rate', value: tally.sent / seconds, unit: 'messages per second' });
}

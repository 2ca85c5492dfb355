import { randomInt } from 'node:crypto';
import * as v from 'valibot';
import { audience, orderUpdate } from '../../infra/local/demo/audience.ts';
import { call, logIn, type Report } from '../../infra/local/demo/client.ts';
import { follow } from '../../infra/local/demo/following.ts';
import type { RunningStack } from '../../infra/local/stack.ts';
import { report } from './figure.ts';

const line = { user: 'supervisor1002', did: '5491100000002', numberId: '300000000000002' } as const;
const jobs = 4;
const recipientsPerJob = 400;
/** A machine that is busy takes many times as long as one that is not. */
const quietLimitMs = 900_000;
const everyMs = 2_000;

const SendingSchema = v.object({
  data: v.array(
    v.object({
      phone_number_id: v.string(),
      limit_per_second: v.number(),
      calls: v.number(),
      accepted: v.number(),
      most_calls_in_a_second: v.number(),
    }),
  ),
});

/**
 * Four jobs at once on an idle number of 80 a second, whose workers start with them (D43): how often the platform is called
 * for a message, and the most calls in any second to what the number may send, by the simulator's own record.
 */
export async function benchPaceOnStack({ addresses }: RunningStack, signal: AbortSignal): Promise<void> {
  const { platformUrl } = addresses;
  const setLevel = async (level: 'STANDARD' | 'HIGH') => {
    const route = `POST /_control/numbers/${line.numberId}`;
    await call({ baseUrl: platformUrl, route, body: { throughput: { level } }, signal });
  };
  await setLevel('STANDARD');
  const client = await logIn(addresses, line.user, signal);
  // It also reads what the platform says of the number.
  await client.synchronize();
  const { did } = line;
  const orders = Array.from({ length: jobs }, () => audience(recipientsPerJob, randomInt(10 ** 8)));
  const jobIds = await Promise.all(orders.map((recipients) => client.send({ did, template: orderUpdate, recipients })));
  for (const jobId of jobIds) {
    const isOver = ({ counts }: Report) => counts.pending === 0;
    await follow({ client, did, jobId, quietLimitMs, everyMs, signal, isOver });
  }
  const { json } = await call({ baseUrl: platformUrl, route: 'GET /_control/sending?limit=0', signal });
  const used = v.parse(SendingSchema, json).data.find((number) => number.phone_number_id === line.numberId);
  if (used === undefined) throw new Error('the simulator says nothing of the number');
  const messages = jobs * recipientsPerJob;
  if (used.accepted !== messages) throw new Error(`only ${used.accepted} of ${messages} messages left`);
  report({ figure: 'pace_on_stack.calls_per_message', value: used.calls / messages, limit: 1.02, unit: 'ratio' });
  report({
    figure: 'pace_on_stack.most_in_a_second',
    value: used.most_calls_in_a_second / used.limit_per_second,
    limit: 1,
    unit: 'of the limit',
  });
  await setLevel('HIGH');
}

import { randomInt } from 'node:crypto';
import * as v from 'valibot';
import { audience, demoDid, orderUpdate } from '../../infra/local/demo/audience.ts';
import { call, logIn, type Report } from '../../infra/local/demo/client.ts';
import { follow } from '../../infra/local/demo/follow-report.ts';
import type { RunningStack } from '../../infra/local/stack.ts';
import { omitUndefined } from '../../lib/keys/omit-undefined.ts';
import { report } from './figure.ts';

interface Load {
  readonly name: string;
  readonly user: string;
  readonly did: string;
  readonly numberId: string;
  readonly level: 'STANDARD' | 'HIGH';
  readonly jobs: number;
  readonly recipientsPerJob: number;
}

/** The first load also starts the workers. */
const loads: readonly Load[] = [
  {
    ...{ name: 'at_80', user: 'supervisor1002', did: '5491100000002', numberId: '300000000000002' },
    ...{ level: 'STANDARD', jobs: 4, recipientsPerJob: 400 },
  },
  {
    ...{ name: 'at_1000', user: 'supervisor1001', did: demoDid, numberId: '300000000000001' },
    ...{ level: 'HIGH', jobs: 1, recipientsPerJob: 10_000 },
  },
];
/** A busy machine takes many times as long as an idle one. */
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
 * Runs four jobs on a number of 80 a second, and 10,000 recipients on one of 1,000 (D43). Calls for a message and calls
 * in the busiest second have limits; messages a second depend on the machine.
 */
export async function benchPaceOnStack(stack: RunningStack, signal: AbortSignal): Promise<void> {
  for (const load of loads) await benchLoad(load, stack, signal);
}

async function benchLoad(load: Load, { addresses }: RunningStack, signal: AbortSignal): Promise<void> {
  const { name, user, did, numberId, level, jobs, recipientsPerJob } = load;
  const { platformUrl } = addresses;
  const setLevel = async (to: Load['level']) => {
    const route = `POST /_control/numbers/${numberId}`;
    await call({ baseUrl: platformUrl, route, body: { throughput: { level: to } }, signal });
  };
  await setLevel(level);
  const client = await logIn(addresses, user, signal);
  // A synchronization also reads the platform's state of the number.
  await client.synchronize();
  const orders = Array.from({ length: jobs }, () => audience(recipientsPerJob, randomInt(10 ** 8)));
  const startedMs = performance.now();
  const jobIds = await Promise.all(orders.map((recipients) => client.send({ did, template: orderUpdate, recipients })));
  for (const jobId of jobIds) {
    const isOver = ({ counts }: Report) => counts.pending === 0;
    await follow({ client, did, jobId, quietLimitMs, everyMs, signal, isOver });
  }
  const seconds = (performance.now() - startedMs) / 1_000;
  const { json } = await call({ baseUrl: platformUrl, route: 'GET /_control/sending?limit=0', signal });
  const used = v.parse(SendingSchema, json).data.find((number) => number.phone_number_id === numberId);
  if (used === undefined) throw new Error('the simulator says nothing of the number');
  const messages = jobs * recipientsPerJob;
  if (used.accepted !== messages) throw new Error(`only ${used.accepted} of ${messages} messages left`);
  const tell = (figure: string, value: number, unit: string, limit?: number) =>
    report({ figure: `pace_on_stack.${name}.${figure}`, value, unit, ...omitUndefined({ limit }) });
  tell('calls_per_message', used.calls / messages, 'ratio', 1.02);
  tell('most_in_a_second', used.most_calls_in_a_second / used.limit_per_second, 'of the limit', 1);
  tell('rate', messages / seconds, 'messages per second');
  await setLevel('HIGH');
}

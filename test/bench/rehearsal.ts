import { randomInt } from 'node:crypto';
import * as v from 'valibot';
import { audience, orderUpdate } from '../../infra/local/demo/audience.ts';
import { call, logIn, type Report } from '../../infra/local/demo/client.ts';
import { follow } from '../../infra/local/demo/follow-report.ts';
import type { RunningStack } from '../../infra/local/stack.ts';
import { report } from './figure.ts';

const line = { user: 'supervisor1002', did: '5491100000002', numberId: '300000000000002' } as const;
const recipients = audience(2_000, randomInt(10 ** 8));
/** The run takes two minutes on an idle machine. */
const quietLimitMs = 600_000;
const everyMs = 2_000;

const LoginSchema = v.object({ access_token: v.string() });
const EstimateSchema = v.object({ dry_run: v.literal(true), estimate: v.object({ seconds: v.number() }) });
const SendingSchema = v.object({
  data: v.array(
    v.object({
      phone_number_id: v.string(),
      accepted: v.number(),
      seconds: v.array(v.object({ at: v.string(), accepted: v.number() })),
    }),
  ),
});

/**
 * Compares the time that a rehearsal tells for 2,000 recipients (D51) with the send that follows it, by the simulator's
 * record. One machine keeps up with a number of 20 a second.
 */
export async function benchRehearsal({ addresses }: RunningStack, signal: AbortSignal): Promise<void> {
  const { apiUrl, platformUrl } = addresses;
  const setShared = async (shared: boolean) => {
    const route = `POST /_control/numbers/${line.numberId}`;
    await call({ baseUrl: platformUrl, route, body: { is_on_biz_app: shared }, signal });
  };
  const recorded = async () => {
    const { json } = await call({ baseUrl: platformUrl, route: 'GET /_control/sending?limit=0', signal });
    const number = v.parse(SendingSchema, json).data.find((each) => each.phone_number_id === line.numberId);
    if (number === undefined) throw new Error('the simulator says nothing of the number');
    return number;
  };
  await setShared(true);
  const client = await logIn(addresses, line.user, signal);
  // A synchronization also reads the platform's state of the number.
  await client.synchronize();
  const before = await recorded();

  const login = { username: line.user, password: `demo-${line.user}` };
  const { json: token } = await call({ baseUrl: apiUrl, route: 'POST /login', body: login, signal });
  const order = { did: line.did, template: orderUpdate, recipients };
  const rehearsed = await call({
    baseUrl: apiUrl,
    route: `POST /v1/template/messages/${line.did}`,
    body: { ...order, type: 'template', channel: 'MESSAGING' },
    token: v.parse(LoginSchema, token).access_token,
    headers: { 'dry-run': 'true' },
    signal,
  });
  const { seconds } = v.parse(EstimateSchema, rehearsed.json).estimate;

  const sentMs = Date.now();
  const jobId = await client.send(order);
  const isOver = ({ counts }: Report) => counts.pending === 0;
  await follow({ client, did: line.did, jobId, quietLimitMs, everyMs, signal, isOver });
  const after = await recorded();
  const messages = after.accepted - before.accepted;
  if (messages !== recipients.length) throw new Error(`${messages} of ${recipients.length} messages left`);
  const last = after.seconds.findLast(({ accepted }) => accepted > 0);
  const ranSeconds = (Date.parse(last?.at ?? '') + 1_000 - sentMs) / 1_000;
  await setShared(false);
  report({
    figure: 'rehearsal.seconds_of_2000_recipients',
    value: Math.abs(seconds / ranSeconds - 1),
    limit: 0.1,
    unit: 'off the run',
  });
}

import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { audience, orderUpdate } from '../../../infra/local/demo/audience.ts';
import { type Addressee, ApiRefusal, type DemoClient, type SendOrder } from '../../../infra/local/demo/client.ts';
import type { Dispatch } from '../../proof/trial/record.ts';
import { demoTemplate, type Trial } from '../../proof/trial/trial.ts';
import type { Chance } from './chance.ts';

const lines = [
  { user: 'supervisor1001', clientId: 1001, did: '5491100000001', numberId: '300000000000001' },
  { user: 'supervisor1002', clientId: 1002, did: '5491100000002', numberId: '300000000000002' },
  { user: 'supervisor1002', clientId: 1002, did: '5511900000003', numberId: '300000000000003' },
] as const;
export const numberIds = lines.map(({ numberId }) => numberId);
export const dids = lines.map(({ did }) => did);
const wabas = ['200000000000001', '200000000000002'] as const;
/** This share of the recipients gets a one-time code (D44). */
const codeShare = 0.05;
/** Up to ten recipients are a small request; more take turns like any dispatch. */
const mostCodesTogether = 20;
const dispatchesPerNumber = 3;
const largestDispatch = 10_000;
/** The dispatches differ in size: shares of what their number sends. */
const shares = [0.5, 0.3, 0.2] as const;
export const mostRecipients = lines.length * largestDispatch;

interface Order {
  readonly line: (typeof lines)[number];
  readonly template: SendOrder['template'];
  readonly recipients: readonly Addressee[];
}

/**
 * The template has no time to live of its own, so that a message does not expire while it waits for a killed worker.
 */
const code = {
  ...{ name: 'fault_code', language: 'en_US', category: 'AUTHENTICATION', status: 'APPROVED' },
  components: [
    { type: 'BODY', add_security_recommendation: true },
    { type: 'BUTTONS', buttons: [{ type: 'OTP', otp_type: 'COPY_CODE', text: 'Copy code' }] },
  ],
};

/** Prepares two clients that can send both templates from all three numbers. */
export async function prepareClients(trial: Trial): Promise<ReadonlyMap<string, DemoClient>> {
  const { id: _, ...template } = demoTemplate();
  for (const [waba_id, templates] of [
    [wabas[0], [code]],
    [wabas[1], [template, code]],
  ] as const) {
    await trial.platform('POST /_control/templates', { waba_id, templates });
  }
  const clients = new Map<string, DemoClient>();
  for (const user of new Set(lines.map((line) => line.user))) {
    const client = await trial.logIn(user);
    await client.synchronize();
    clients.set(user, client);
  }
  return clients;
}

/** Puts every recipient into exactly one dispatch: three dispatches of each number, the numbers in turns. */
function promotionsTo(recipients: readonly Addressee[]): readonly Order[] {
  const perNumber = Math.ceil(recipients.length / lines.length);
  return Array.from({ length: dispatchesPerNumber }, (_, dispatch) =>
    lines.map((line, index) => {
      const own = recipients.slice(index * perNumber, (index + 1) * perNumber);
      const bounds = [dispatch, dispatch + 1].map((end) =>
        Math.round(own.length * shares.slice(0, end).reduce<number>((sum, share) => sum + share, 0)),
      );
      return { line, template: orderUpdate, recipients: own.slice(bounds[0], bounds[1]) };
    }),
  )
    .flat()
    .filter((order) => order.recipients.length > 0);
}

/** Makes requests of one to twenty recipients, from any number. */
function codesTo(recipients: readonly Addressee[], chance: Chance): readonly Order[] {
  const orders: Order[] = [];
  for (let from = 0; from < recipients.length; ) {
    const size = chance.oneOf([1, 1, 2, chance.between(3, mostCodesTogether)]) ?? 1;
    const line = chance.oneOf(lines) ?? lines[0];
    orders.push({ line, template: code, recipients: recipients.slice(from, from + size) });
    from += size;
  }
  return orders;
}

/** No other test writes to the recipients of a campaign. */
export interface Campaign {
  readonly codes: number;
  /** Returns how many recipients were not requested yet. */
  readonly unaccepted: () => number;
  /** Makes the large requests. Later ones come while earlier dispatches run. */
  readonly acceptDispatches: () => Promise<void>;
  /** Requests one-time codes until this share of them was requested. */
  readonly acceptCodes: (share: number) => Promise<void>;
}

interface CampaignOptions {
  readonly count: number;
  readonly chance: Chance;
  /** What is accepted is added here. */
  readonly dispatches: Dispatch[];
  readonly signal: AbortSignal;
}

export function campaignOf(
  clients: ReadonlyMap<string, DemoClient>,
  { count, chance, dispatches, signal }: CampaignOptions,
): Campaign {
  const everybody = audience(count, chance.between(0, 10 ** 8 - 1));
  const codes = Math.floor(codeShare * count);
  const promoted = promotionsTo(everybody.slice(codes));
  const coded = codesTo(
    everybody.slice(0, codes).map(({ to }) => ({ to, params: { body: [String(chance.between(100_000, 999_999))] } })),
    chance,
  );
  const waiting = [...coded];
  let unaccepted = count;
  const accept = async ({ line, template: { name, language }, recipients }: Order) => {
    const client = clients.get(line.user);
    if (client === undefined) throw new Error(`${line.user} is not logged in`);
    const { clientId } = line;
    const order = { did: line.did, template: { name, language }, recipients };
    dispatches.push({
      client,
      did: line.did,
      dispatchId: await accepted(client, order, signal),
      clientId,
      total: recipients.length,
    });
    unaccepted -= recipients.length;
  };
  return {
    codes,
    unaccepted: () => unaccepted,
    acceptDispatches: async () => {
      for (const order of promoted) {
        await accept(order);
        await pause(chance.between(0, 500), undefined, { signal });
      }
    },
    acceptCodes: async (share) => {
      while (waiting.length > (1 - share) * coded.length) await accept(waiting.shift() as Order);
    },
  };
}

/** Repeats a request with its key when the answer is lost or unclear, as a client would. */
async function accepted(client: DemoClient, order: SendOrder, signal: AbortSignal): Promise<string> {
  const keyed = { ...order, idempotencyKey: randomUUID() };
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await client.send(keyed);
    } catch (error) {
      const mayRepeat = error instanceof ApiRefusal && (error.status >= 500 || error.status === 409);
      if (!mayRepeat || attempt === mostAttempts) throw error;
      await pause(1_000, undefined, { signal });
    }
  }
}

/** The service does not know for half a minute whether the first request with the key still runs. */
const mostAttempts = 60;

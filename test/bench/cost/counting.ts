import type { TableAccess } from '../../../lib/aws/dynamodb-batch.ts';
import { tableOf } from '../../../lib/aws/table.ts';
import { acceptedDispatchesStore } from '../../../lib/messages/accept/accepted-dispatches-store.ts';
import type { DispatchHead } from '../../../lib/messages/dispatch/head.ts';
import type { Receipt } from '../../../lib/messages/receipts/receipt.ts';
import { receiptStore } from '../../../lib/messages/receipts/receipt-store.ts';
import { countDispatches } from '../../../lib/messages/spend/count-dispatches.ts';
import { statedCosts } from '../../../lib/messages/spend/count-marks-store.ts';
import { countReceipts } from '../../../lib/messages/spend/count-receipts.ts';
import { countDelayMs } from '../../../lib/messages/spend/later-counts.ts';
import { spendStore } from '../../../lib/messages/spend/spend-store.ts';
import { shippedRates } from '../../../lib/pricing/rates.ts';
import { beginListed } from '../../support/begun-dispatches.ts';
import { makeDispatchHead } from '../../support/made-dispatches.ts';
import { meterRequests } from '../../support/request-meter.ts';
import * as assumed from './assumed.ts';
import { together as added, type Counts, lambdaTime, times } from './price.ts';

const acceptedAtMs = Date.parse('2026-11-22T10:00:00Z');
const nowMs = () => acceptedAtMs + 60_000;
const pricing = { billable: true, type: 'regular', category: 'authentication' };

/**
 * Returns what counting costs for each message, where requests have one recipient and receipts come so many together
 * (D58).
 */
export async function costOfCountingSingles(messages: TableAccess, together: number): Promise<Counts> {
  const dispatches = Array.from({ length: together }, (_, at) => headOf(`S${together}-${at}`, 1));
  const meter = meterRequests(messages.client);
  for (const head of dispatches) await begin(messages, head);
  const { counting, transacted } = counted(messages);
  const ports = {
    stated: statedCosts(messages),
    count: (dispatchIds: readonly string[]) => countDispatches(dispatchIds, counting),
    countLater: async () => undefined,
  };
  let cost: Counts = {};
  for (const status of ['sent', 'delivered', 'read']) {
    const told = dispatches.map((head) => ({ head, receipts: [receiptOf(head, 0, status)] }));
    for (const { head, receipts } of told) await receiptStore(messages).append(head, receipts);
    meter.taken();
    await countReceipts(told, ports);
    cost = added(cost, countsOf({ ...meter.taken(), writeUnits: transacted() }, 'messages-receipts'));
  }
  return times(cost, 1 / together);
}

/** Returns what counting costs for each message of a dispatch, on the day on which its receipts come. */
export async function costOfCountingBulk(messages: TableAccess, recipients: number): Promise<Counts> {
  const head = headOf(`BULK-${recipients}`, recipients);
  await beginListed(acceptedDispatchesStore(tableOf(messages.client, messages.name, { nowMs })), { head, repeats: [] });
  const meter = meterRequests(messages.client);
  const { counting, transacted } = counted(messages);
  for (const status of ['sent', 'delivered', 'read']) {
    const receipts = Array.from({ length: recipients }, (_, index) => receiptOf(head, index, status));
    await receiptStore(messages).append(head, receipts);
  }
  meter.taken();
  await countDispatches([head.dispatchId], counting);
  const ofCount = added(countsOf({ ...meter.taken(), writeUnits: transacted() }, 'spend-count'), {
    writeUnits: 1,
    readUnits: 1,
  });
  const { counts, hops } = countsOfDay();
  // A queue delays by fifteen minutes at most, and each of its messages is sent, received and deleted.
  return times(added(times(ofCount, counts), { queueRequests: 3 * hops }), 1 / recipients);
}

/**
 * The local table does not say what transactions cost: two units for each item, because all are below a kilobyte here.
 */
function counted(messages: TableAccess) {
  const ledger = spendStore({ ...messages, nowMs });
  let units = 0;
  const write: typeof ledger.write = async (step) => {
    units += 2 * (step.stated.length + step.days.size + step.months.size);
    return await ledger.write(step);
  };
  const transacted = () => {
    const taken = units;
    units = 0;
    return taken;
  };
  const rates = async () => [shippedRates] as const;
  return { counting: { ledger: { ...ledger, write }, rates, nowMs }, transacted };
}

/**
 * Returns how often a dispatch is counted in its first day when receipts never stop, and how many queue messages that
 * takes.
 */
function countsOfDay(): { readonly counts: number; readonly hops: number } {
  let [counts, hops, ageMs] = [0, 0, 0];
  while (ageMs < 86_400_000) {
    const delayMs = countDelayMs({ acceptedAtMs: 0 }, ageMs);
    [counts, hops, ageMs] = [counts + 1, hops + Math.ceil(delayMs / 900_000), ageMs + delayMs];
  }
  return { counts, hops };
}

function headOf(dispatchId: string, total: number): DispatchHead {
  return makeDispatchHead({ dispatchId, total, acceptedAtMs, category: 'AUTHENTICATION', receiptsExpected: true });
}

async function begin({ client: documentClient, name: tableName }: TableAccess, head: DispatchHead): Promise<void> {
  await acceptedDispatchesStore(tableOf(documentClient, tableName, { nowMs })).beginStraight({
    head,
    recipients: [{ to: '5491155550001' }],
  });
}

function receiptOf({ dispatchId }: DispatchHead, index: number, status: string): Receipt {
  const told = status === 'read' ? {} : { pricing };
  return { dispatchId, index, status, atMs: acceptedAtMs + 2_000, platformMessageId: `wamid.${index}`, ...told };
}

function countsOf(
  { readUnits, writeUnits, roundTrips }: ReturnType<ReturnType<typeof meterRequests>['taken']>,
  name: 'messages-receipts' | 'spend-count',
): Counts {
  const waitedMs = roundTrips * assumed.storeMs;
  return { readUnits, writeUnits, ...lambdaTime({ memoryMb: assumed.memoryOf(name), waitedMs, processorMs: 0 }) };
}

import type { BatchRecord, Claim, DispatchKey, Settlement } from '../../lib/messages/dispatch/claim.ts';
import { receiptGroupOf } from '../../lib/messages/items.ts';
import { dispatchIdOf, type JobHead } from '../../lib/messages/job.ts';
import type { HandSettlement } from '../../lib/messages/outcomes/resolve-unknown.ts';
import type { Receipt } from '../../lib/messages/receipts/receipt.ts';
import type { ServiceEvent } from '../../lib/webhooks/event.ts';
import type { Op } from './stepped-run.ts';

/** What the messages table, the event queue and the platform know, as plain data. */
export interface StoreState {
  readonly claims: Readonly<Record<string, Claim>>;
  readonly batches: Readonly<Record<string, BatchRecord>>;
  /** Events that were queued, each id once. */
  readonly told: Readonly<Record<string, Pick<ServiceEvent, 'type' | 'data'>>>;
  readonly doubtful: Readonly<Record<string, true>>;
  readonly receipts: Readonly<Record<string, readonly Receipt[]>>;
  readonly calls: readonly { readonly dispatchId: string; readonly effect: string; readonly accepts: boolean }[];
}

export const emptyStore: StoreState = { claims: {}, batches: {}, told: {}, doubtful: {}, receipts: {}, calls: [] };

/** The meaning of each store call: what dispatch-store.ts, doubt-store.ts, receipt-store.ts and outcomes-store.ts must do on DynamoDB. */
export function applyOp(store: StoreState, op: Op): { readonly store: StoreState; readonly value: unknown } {
  switch (op.name) {
    case 'take': {
      const [claim] = op.args as [Claim];
      const id = dispatchIdOf(claim.key);
      const existing = store.claims[id];
      if (existing !== undefined) return { store, value: existing };
      return { store: { ...store, claims: { ...store.claims, [id]: claim } }, value: undefined };
    }
    case 'release': {
      const [key, at] = op.args as [DispatchKey, string];
      const { [dispatchIdOf(key)]: claim, ...others } = store.claims;
      const mine = claim?.at === at && claim.state === 'claimed';
      return { store: mine ? { ...store, claims: others } : store, value: undefined };
    }
    case 'settle': {
      const [key, at, settlement] = op.args as [DispatchKey, string, Settlement];
      const claim = store.claims[dispatchIdOf(key)];
      const settledSo = claim?.state === settlement.state && claim.code === settlement.code;
      if (claim?.at !== at || !(claim.state === 'claimed' || settledSo)) return { store, value: false };
      const claims = { ...store.claims, [dispatchIdOf(key)]: { ...claim, ...settlement } };
      return { store: { ...store, claims }, value: true };
    }
    case 'findBatchRecord':
      return { store, value: store.batches[String(op.args[0])] };
    case 'recordBatch': {
      const [invocation, sent] = op.args as [string, BatchRecord];
      return { store: { ...store, batches: { ...store.batches, [invocation]: sent } }, value: undefined };
    }
    case 'mark': {
      const [{ jobId }] = op.args as [DispatchKey];
      return { store: { ...store, doubtful: { ...store.doubtful, [jobId]: true } }, value: undefined };
    }
    case 'hasReceipt':
      return { store, value: store.receipts[dispatchIdOf(op.args[0] as DispatchKey)] !== undefined };
    case 'append': {
      const [, appended] = op.args as [JobHead, readonly Receipt[]];
      const receipts = { ...store.receipts };
      for (const receipt of appended) {
        const id = dispatchIdOf(receipt);
        const known = receipts[id] ?? [];
        if (!known.some((each) => JSON.stringify(each) === JSON.stringify(receipt))) receipts[id] = [...known, receipt];
      }
      return { store: { ...store, receipts }, value: undefined };
    }
    case 'doubtfulJobs':
      return { store, value: (op.args[0] as string[]).filter((jobId) => store.doubtful[jobId]) };
    case 'findClaims': {
      const ids = (op.args[0] as DispatchKey[]).map(dispatchIdOf);
      return { store, value: ids.flatMap((id) => (store.claims[id] === undefined ? [] : [[id, store.claims[id]]])) };
    }
    case 'findBatchRecords': {
      const found = op.args[0] as string[];
      return {
        store,
        value: found.flatMap((at) => (store.batches[at] === undefined ? [] : [[at, store.batches[at]]])),
      };
    }
    case 'settleSeen': {
      const [seen, settlement] = op.args as [Claim, Partial<Claim>];
      const id = dispatchIdOf(seen.key);
      const { reason: _, ...claim } = store.claims[id] ?? seen;
      if (store.claims[id]?.at !== seen.at || claim.state !== seen.state) return { store, value: false };
      const claims = { ...store.claims, [id]: { ...claim, ...settlement } };
      return { store: { ...store, claims }, value: true };
    }
    case 'settleByHand': {
      const [seen, settlement] = op.args as [Claim, HandSettlement];
      const id = dispatchIdOf(seen.key);
      const claim = store.claims[id];
      if (claim?.at !== seen.at || claim.state !== seen.state) return { store, value: false };
      return { store: { ...store, claims: { ...store.claims, [id]: { ...claim, ...settlement } } }, value: true };
    }
    case 'ofGroup': {
      const [jobId, group] = op.args as [string, number];
      const ofJob = Object.values(store.receipts)
        .flat()
        .filter((receipt) => receipt.jobId === jobId);
      return { store, value: ofJob.filter(({ index }) => receiptGroupOf(index) === group) };
    }
    case 'sendEvents': {
      const [events] = op.args as [readonly ServiceEvent[]];
      const told = Object.fromEntries(events.map(({ id, type, data }) => [id, { type, data }]));
      return { store: { ...store, told: { ...store.told, ...told } }, value: undefined };
    }
    default:
      throw new Error(`${op.name} is no call of the store`);
  }
}

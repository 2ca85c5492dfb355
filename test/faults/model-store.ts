import type { BatchRecord, Claim, DispatchKey, Settlement } from '../../lib/messages/dispatch/claim.ts';
import { dispatchIdOf } from '../../lib/messages/job.ts';
import type { ServiceEvent } from '../../lib/webhooks/event.ts';
import type { Op } from './stepped-run.ts';

/** What the messages table, the event queue and the platform know, as plain data. */
export interface StoreState {
  readonly claims: Readonly<Record<string, Claim>>;
  readonly batches: Readonly<Record<string, BatchRecord>>;
  /** Events that were queued, each id once. */
  readonly told: Readonly<Record<string, Pick<ServiceEvent, 'type' | 'data'>>>;
  readonly calls: readonly { readonly dispatchId: string; readonly effect: string; readonly accepts: boolean }[];
}

export const emptyStore: StoreState = { claims: {}, batches: {}, told: {}, calls: [] };

/** The meaning of each store call: what lib/messages/dispatch/dispatch-store.ts must do on DynamoDB. */
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
      if (claim?.at !== at || ![settlement.state, 'claimed'].includes(claim.state)) return { store, value: false };
      const claims = { ...store.claims, [dispatchIdOf(key)]: { ...claim, ...settlement } };
      return { store: { ...store, claims }, value: true };
    }
    case 'findBatchRecord':
      return { store, value: store.batches[String(op.args[0])] };
    case 'recordBatch': {
      const [invocation, sent] = op.args as [string, BatchRecord];
      return { store: { ...store, batches: { ...store.batches, [invocation]: sent } }, value: undefined };
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

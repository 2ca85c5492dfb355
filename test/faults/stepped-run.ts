import {
  type BatchRecord,
  type Claim,
  type DispatchKey,
  dispatchTimeoutMs,
  invocationOf,
} from '../../lib/messages/dispatch/claim.ts';
import { dispatchBatch } from '../../lib/messages/dispatch/dispatch.ts';
import type { DispatchPorts } from '../../lib/messages/dispatch/dispatch-ports.ts';
import { receiptGroupOf } from '../../lib/messages/items.ts';
import { dispatchIdOf } from '../../lib/messages/job.ts';
import { outcomeOf, reported } from '../../lib/messages/outcomes/outcome.ts';
import { type HandSettlement, type ResolvePorts, resolveUnknown } from '../../lib/messages/outcomes/resolve-unknown.ts';
import { fold } from '../../lib/messages/receipts/fold.ts';
import type { Receipt } from '../../lib/messages/receipts/receipt.ts';
import type { RecordPorts } from '../../lib/messages/receipts/record-ports.ts';
import { recordReceipts } from '../../lib/messages/receipts/record-receipts.ts';
import { PlatformFailure } from '../../lib/platform/failure.ts';
import { defaultEventTypes } from '../../lib/webhooks/event.ts';
import { idlePaces } from '../support/idle-paces.ts';
import { scenarioHead } from './scenario-job.ts';

/** The outside calls of the policies: the points at which something can go wrong. */
export type OpName =
  | 'take'
  | 'release'
  | 'settle'
  | 'findBatchRecord'
  | 'recordBatch'
  | 'mark'
  | 'hasReceipt'
  | 'sendEvents'
  | 'sendLater'
  | 'postpone'
  | 'reserve'
  | 'send'
  | 'append'
  | 'doubtfulJobs'
  | 'findClaims'
  | 'findBatchRecords'
  | 'settleSeen'
  | 'ofGroup'
  | 'settleByHand';

export interface Op {
  readonly id: number;
  readonly name: OpName;
  readonly args: readonly unknown[];
}

/** What an outside call came to, as plain data so that a state of the exploration can be written down. */
export type Reply =
  | { readonly value: unknown }
  | { readonly error: 'unavailable' }
  | { readonly failure: 'not_sent' | 'refused' | 'ambiguous'; readonly code?: number };

export interface Answered {
  readonly op: number;
  readonly reply: Reply;
  readonly nowMs: number;
}

/** Whose run it is: of the dispatch queue, of the receipt queue, or of an operator who settles a message by hand. */
export type Role = 'dispatch' | 'receipts' | 'operator';

export interface Start {
  readonly role: Role;
  /** Whether there may be receipts. Where there are none, to look for one is no step. */
  readonly receipts: boolean;
  /** Whether reserving a slot is a step of its own. Every slot is of that moment: what is not due yet, other tests show. */
  readonly paces: boolean;
  readonly invocation: string;
  readonly bodies: readonly string[];
  /** By the clock of the run, here and in its replies. */
  readonly nowMs: number;
  /** When it is killed; undefined: never, which is harsher than Lambda, however long others take meanwhile. */
  readonly endsAtMs: number | undefined;
}

/**
 * One run of the real `dispatchBatch`, `recordReceipts` or `resolveUnknown` that stands still at every outside call until it is told what came
 * of it. The run is a function of its start and its replies, so repeating those restores it exactly.
 */
export class SteppedRun {
  readonly pending = new Map<number, Op>();
  /** Positions to be delivered again, once the run has ended. */
  ended: readonly number[] | undefined;
  private readonly waiting = new Map<number, PromiseWithResolvers<unknown>>();
  private nowMs: number;
  private calls = 0;

  private constructor(start: Start) {
    this.nowMs = start.nowMs;
    void this.begun(start).then((failed) => {
      this.ended = failed.map(Number);
    });
  }

  static async replay(start: Start, answered: readonly Answered[] = []): Promise<SteppedRun> {
    const run = new SteppedRun(start);
    await settled();
    for (const answer of answered) await run.answer(answer);
    return run;
  }

  private async begun(start: Start): Promise<readonly string[]> {
    const deliveries = start.bodies.map((body, position) => ({ messageId: String(position), receiptHandle: '', body }));
    if (start.role === 'dispatch') return await dispatchBatch(deliveries, this.dispatchPorts(start));
    if (start.role === 'receipts') return await recordReceipts(deliveries, this.receiptPorts());
    const { state, ...key } = JSON.parse(start.bodies[0] ?? '') as DispatchKey & HandSettlement;
    // The command ends with whatever error there is.
    await resolveUnknown(key, state, this.operatorPorts()).catch(() => false);
    return [];
  }

  async answer({ op, reply, nowMs }: Answered): Promise<void> {
    const waiting = this.waiting.get(op);
    if (waiting === undefined) throw new Error(`the run has no open call ${op}: it is not deterministic`);
    this.waiting.delete(op);
    this.pending.delete(op);
    this.nowMs = nowMs;
    if ('value' in reply) waiting.resolve(reply.value);
    else if ('error' in reply) waiting.reject(new Error(reply.error));
    else waiting.reject(new PlatformFailure(reply.failure, reply.code === undefined ? {} : { code: reply.code }));
    await settled();
  }

  private call(name: OpName) {
    return (...args: unknown[]) => {
      const id = this.calls++;
      this.pending.set(id, { id, name, args });
      const waiting = Promise.withResolvers<unknown>();
      this.waiting.set(id, waiting);
      return waiting.promise as Promise<never>;
    };
  }

  private dispatchPorts({ invocation, receipts, paces, endsAtMs }: Start): DispatchPorts {
    return {
      claims: {
        take: this.call('take'),
        release: this.call('release'),
        settle: this.call('settle'),
        findBatchRecord: this.call('findBatchRecord'),
        recordBatch: this.call('recordBatch'),
      },
      doubts: receipts
        ? { mark: this.call('mark'), hasReceipt: this.call('hasReceipt') }
        : { mark: async () => undefined, hasReceipt: async () => false },
      events: { send: this.call('sendEvents') },
      queue: { sendLater: this.call('sendLater'), postpone: this.call('postpone'), hold: async () => undefined },
      ...idlePaces,
      ...(paces ? { paces: this.steppedPaces() } : {}),
      send: this.call('send'),
      invocation,
      nowMs: () => this.nowMs,
      remainingMs: () => (endsAtMs === undefined ? dispatchTimeoutMs : endsAtMs - this.nowMs),
      random: () => 0,
      pause: async () => undefined,
      log: () => undefined,
    };
  }

  private steppedPaces(): DispatchPorts['paces'] {
    const reserve = this.call('reserve');
    const { find, change } = idlePaces.paces;
    return {
      find,
      change: async (phoneNumberId, seen, how) => {
        await reserve(phoneNumberId);
        return await change(phoneNumberId, seen, how);
      },
    };
  }

  private mapped<Value>(name: OpName) {
    const call = this.call(name);
    return async (...args: unknown[]) => new Map<string, Value>(await call(...args));
  }

  private receiptPorts(): RecordPorts {
    const doubtfulJobs = this.call('doubtfulJobs');
    return {
      records: {
        // The head of a job that was dispatched never changes: reading it is no step of its own.
        findHeads: async (jobIds) => new Map(jobIds.map((jobId) => [jobId, { ...scenarioHead, jobId }])),
        append: this.call('append'),
        doubtfulJobs: async (jobIds) => new Set(await doubtfulJobs(jobIds)),
        ofGroup: this.call('ofGroup'),
      },
      claims: {
        take: this.call('take'),
        findClaims: this.mapped<Claim>('findClaims'),
        findBatchRecords: this.mapped<BatchRecord>('findBatchRecords'),
        settleSeen: this.call('settleSeen'),
      },
      wanted: async () => defaultEventTypes,
      events: { send: this.call('sendEvents') },
      nowMs: () => this.nowMs,
      remainingMs: () => 60_000,
      log: () => undefined,
    };
  }

  /** Reads in the order of report-store.ts: claim and receipts, and then the batch record. */
  private operatorPorts(): ResolvePorts {
    const findClaims = this.mapped<Claim>('findClaims');
    const findBatchRecords = this.mapped<BatchRecord>('findBatchRecords');
    const ofGroup = this.call('ofGroup') as (jobId: string, group: number) => Promise<readonly Receipt[]>;
    return {
      read: async (key) => {
        const [claims, receipts] = await Promise.all([
          findClaims([key]),
          ofGroup(key.jobId, receiptGroupOf(key.index)),
        ]);
        const claim = claims.get(dispatchIdOf(key));
        const batches = claim === undefined ? undefined : await findBatchRecords([invocationOf(claim.at)]);
        const batch = claim === undefined ? undefined : batches?.get(invocationOf(claim.at));
        const proven = fold(receipts.filter(({ index }) => index === key.index));
        return { claim, outcome: reported(outcomeOf(key, { claim, batch }, this.nowMs), proven) };
      },
      settleByHand: this.call('settleByHand'),
      nowMs: () => this.nowMs,
    };
  }
}

/** Lets everything run that can run without another reply: no step of the policy needs more promise turns than this. */
async function settled(): Promise<void> {
  for (let turn = 0; turn < 30; turn += 1) await null;
}

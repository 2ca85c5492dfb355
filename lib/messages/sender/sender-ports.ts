import type { RunState, RunStates } from '../../aws/leased-run.ts';
import type { ComposePorts } from '../accept/composed-recipient.ts';
import type { Budgets } from '../budget/budgets.ts';
import type { BacklogEntry } from '../dispatch/backlog.ts';
import type { StoredRecipient } from '../dispatch/head.ts';
import type { DispatchItem, DispatchItemState, DispatchStop, standingIn } from '../dispatch/item.ts';
import type { DispatchItemStates } from '../dispatch/item-store.ts';
import type { Slice } from '../dispatch/slice.ts';
import type { StoredDispatch } from '../dispatch/whole-dispatch.ts';
import type { Breakers } from '../holds/breaker.ts';
import type { HeldBy, Holds } from '../holds/hold.ts';
import type { RunHolds } from '../holds/run-holds.ts';
import type { AskedTemplate } from '../holds/template-question.ts';
import type { KnownPaces } from '../pace/known-pace-store.ts';
import type { SendingPorts } from '../send/sending-ports.ts';
import type { Released } from './cost-at-release.ts';
import type { EntryRule, SenderPart } from './entry-progress.ts';
import type { LostLeases } from './lost-leases.ts';
import type { Places } from './places-store.ts';
import type { Revalidation } from './revalidate-dispatch.ts';
import type { Service } from './served-least.ts';

/** A sender of a number: one of its parts. */
export interface SenderKey extends SenderPart {
  readonly phoneNumberId: string;
}

/** The item of a sender's lease, with what one run tells the next. */
export interface SenderState extends RunState, LostLeases {
  readonly service?: Service | undefined;
  /** The turns of the runs before end then; the next one begins behind them. */
  readonly turnsUntilMs?: number | undefined;
}

/** Every method rejects when the store cannot be reached. */
export interface SenderBacklog {
  /** Reads the entries of a number strongly. */
  of(phoneNumberId: string): Promise<readonly BacklogEntry[]>;
  /** Applies a rule by compare-and-set. Returns undefined once the entry is removed. */
  change(entry: BacklogEntry, rule: EntryRule): Promise<BacklogEntry | undefined>;
  /** Is idempotent. */
  remove(entry: BacklogEntry): Promise<void>;
}

export interface FoundDispatch {
  readonly standing: ReturnType<typeof standingIn>;
  readonly state: DispatchItemState;
  /** Is absent once it is forgotten. */
  readonly dispatch: StoredDispatch | undefined;
}

/** Every method rejects when the store cannot be reached, and reads strongly. */
export interface SenderDispatches extends Pick<SendingPorts['dispatches'], 'look'> {
  find(dispatchId: string): Promise<FoundDispatch>;
  /** Returns the stored slices from this one on. */
  slicesFrom(dispatchId: string, slice: number, slices: number): Promise<readonly Slice[]>;
  /** Returns at least one recipient, as many as one read returns. */
  recipientsFrom(dispatchId: string, firstIndex: number): Promise<readonly StoredRecipient[]>;
  withdraw(dispatchId: string): Promise<'withdrawn' | 'begun'>;
  /** Lists the dispatch for its client, as acceptance mostly has done. */
  list(dispatch: StoredDispatch): Promise<void>;
  reckon(
    dispatchId: string,
    underWay: NonNullable<DispatchItem['underWay']>,
  ): Promise<NonNullable<DispatchItem['underWay']>>;
}

/** What a try of a slice needs, whether a sender makes it or a worker of small requests. */
export interface SliceTryPorts
  extends Pick<SendingPorts, 'slices' | 'unknowns' | 'platform' | 'people' | 'events' | 'noteSent' | 'process'> {
  readonly dispatches: Pick<SenderDispatches, 'look'>;
}

export interface SliceHolds {
  /** Serves one slice. `saw` gets all holds that it reads or writes. */
  readonly ofSlice: (saw: (wabaId: string, holds: Holds) => void) => RunHolds;
  readonly breakers: Breakers;
}

export interface SenderPorts extends SliceTryPorts, Pick<ComposePorts, 'compose'> {
  readonly statesOf: (key: SenderKey) => RunStates<SenderState>;
  readonly backlog: SenderBacklog;
  readonly dispatches: SenderDispatches;
  readonly states: Pick<DispatchItemStates, 'stop' | 'park' | 'parkTold' | 'resume' | 'unpark'>;
  readonly holds: SliceHolds & {
    /** Asks for a hold of a template (holds/template-question.ts). `saw` gets what is stored after each write. */
    readonly askTemplate: (
      asked: AskedTemplate,
      by: HeldBy,
      saw: (wabaId: string, holds: Holds) => void,
    ) => Promise<void>;
  };
  /** Small requests have turns of the number while no sender works. */
  readonly places: Pick<Places, 'close'>;
  readonly paces: KnownPaces;
  /** Returns messages a second that the platform lets the number send. Never throws. */
  readonly limitOf: (dispatch: StoredDispatch) => Promise<number>;
  /** Sends wakes for parts of the number. Rejects when the queue cannot be reached. */
  readonly wake: (parts: readonly number[], delaySeconds: number) => Promise<void>;
  readonly judge: (dispatch: StoredDispatch) => Promise<Revalidation>;
  readonly budgets: Pick<Budgets, 'release'>;
  readonly costStop: (released: Released) => Promise<Pick<DispatchStop, 'state' | 'code' | 'reason'> | undefined>;
  /** Tells the end of a dispatch and counts its cost; returns false while the report has pending messages (D41). */
  readonly tellEnd: (dispatch: StoredDispatch) => Promise<boolean>;
}

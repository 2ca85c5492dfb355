import type { Context } from 'aws-lambda';
import { messagesSend } from '../../functions/messages-send.ts';
import { bodyHashOf, type IdempotencyRecord } from '../../lib/messages/accept/idempotency.ts';
import type { MessageQueue } from '../../lib/messages/accept/message-queue.ts';
import { type DispatchItem, standingIn } from '../../lib/messages/dispatch/item.ts';
import { decodeSmallRequest } from '../../lib/messages/dispatch/small-request-message.ts';
import type { PlatformTemplate } from '../../lib/templates/model/template.ts';
import { begun, withdrawnDispatch } from './messages-table/dispatch-item.ts';
import { keyWrites } from './messages-table/key-item.ts';
import type { Written } from './messages-table/written.ts';
import { answeredOf, type SendAnswer, sendableDid, sendEvent, sendPorts } from './send-page.ts';

/** The call that hangs never arrives, takes effect without an answer, or takes effect after the answer. */
export interface HangingCall {
  readonly number: number;
  readonly mode: 'lost' | 'silent' | 'late';
  /** Every later call hangs too. */
  readonly onward?: boolean;
}

export interface AcceptingOptions {
  readonly template: PlatformTemplate;
  /** The invocation's timeout comes after this time. */
  readonly remainingMs: number;
  readonly hanging?: HangingCall;
  /** A queue request takes this long. */
  readonly queueMs?: number;
  /** A worker begins a dispatch as soon as it is queued; otherwise after everything else. */
  readonly eager?: boolean;
  /** A run that died has used the key; its dispatch was begun or not. */
  readonly died?: 'begun' | 'not begun';
}

export const earlierDispatchId = 'EARLIER';
const newDispatchId = 'NEW';

/**
 * A send in memory has one call that hangs. A call with an abort signal ends when the signal aborts it; other calls end
 * only at `thaw`. The caller controls the time (fake timers).
 */
export class AcceptingWorld {
  readonly calls: string[] = [];
  private readonly options: AcceptingOptions;
  private readonly endsAtMs: number;
  private readonly thawing: (() => void)[] = [];
  private readonly stored = new Set<string>();
  /** A worker can read these dispatches. */
  private readonly queued = new Set<string>();
  private readonly dispatches = new Map<string, DispatchItem>();
  private record: IdempotencyRecord | undefined;

  constructor(options: AcceptingOptions) {
    this.options = options;
    this.endsAtMs = Date.now() + options.remainingMs;
  }

  async send(body: object, key?: string): Promise<SendAnswer> {
    const { died } = this.options;
    if (died !== undefined) {
      const startedAtMs = Date.now() - 35_000;
      this.record = { bodyHash: bodyHashOf(body), dispatchId: earlierDispatchId, startedAtMs, state: 'running' };
      if (died === 'begun') this.begin(earlierDispatchId);
    }
    const context = { getRemainingTimeInMillis: () => Math.max(0, this.endsAtMs - Date.now()) } as Context;
    return answeredOf(await messagesSend(this.ports())(sendEvent(body, key), context));
  }

  /** Lets the container serve another request: calls that hung end, and late calls take effect. */
  thaw(): void {
    for (const goOn of this.thawing.splice(0)) goOn();
  }

  /** Returns the dispatches that are sent, now or as soon as a sender or a worker reads them. */
  sentDispatches(): string[] {
    return [newDispatchId, earlierDispatchId].filter(
      (dispatchId) => standingIn(this.dispatches.get(dispatchId) ?? {}) === 'begun' || this.mayBegin(dispatchId),
    );
  }

  private mayBegin(dispatchId: string): boolean {
    return this.queued.has(dispatchId) && standingIn(this.dispatches.get(dispatchId) ?? {}) !== 'withdrawn';
  }

  private ports(): Parameters<typeof messagesSend>[0] {
    const plain = sendPorts(this.options.template, Date.now);
    const { templates } = plain;
    return {
      ...plain,
      findSendable: () => this.call('findSendable', () => ({ did: sendableDid })),
      templates: {
        ...templates,
        find: (wanted) => this.call('find', () => templates.find(wanted)),
        refresh: (...args) => this.call('refresh', () => templates.refresh(...args)),
      },
      platformTemplates: { lookUp: (...args) => this.call('lookUp', () => plain.platformTemplates.lookUp(...args)) },
      newDispatchId: () => newDispatchId,
      wake: (_, signal) => this.slowly(() => this.call('wake', () => undefined, signal)),
      urgentQueue: this.queue('send', (message) => this.take(decodeSmallRequest(message).head.dispatchId)),
      acceptance: {
        store: ({ head }, signal) => this.call('store', () => void this.stored.add(head.dispatchId), signal),
        list: (_, signal) => this.call('list', () => undefined, signal),
        withdraw: (dispatchId, signal) => this.call('withdraw', () => this.withdraw(dispatchId), signal),
        begin: (head, signal) => this.call('begin', () => this.begin(head.dispatchId), signal),
        beginStraight: ({ head }, signal) => this.call('begin', () => this.begin(head.dispatchId), signal),
      },
      records: {
        find: (...args) => this.call('find', () => this.written(keyWrites.find(this.record, ...args))),
        claim: (...args) => this.call('claim', () => this.written(keyWrites.claim(this.record, ...args))),
        takeOver: (...args) => this.call('takeOver', () => this.written(keyWrites.takeOver(this.record, ...args))),
        complete: (...args) =>
          this.call('complete', () => this.written(keyWrites.complete(this.record, ...args)), args[3]),
        remove: (...args) => this.call('remove', () => this.written(keyWrites.remove(this.record, ...args)), args[2]),
      },
    };
  }

  private call<Value>(name: string, effect: () => Value | Promise<Value>, signal?: AbortSignal): Promise<Value> {
    this.calls.push(name);
    const { hanging } = this.options;
    const number = this.calls.length;
    const hangs = hanging?.number === number || (hanging?.onward === true && number > hanging.number);
    if (hanging === undefined || !hangs) return Promise.resolve(effect());
    const value = hanging.mode === 'silent' ? effect() : undefined;
    return new Promise<Value>((resolve, reject) => {
      signal?.addEventListener('abort', () => reject(signal.reason));
      this.thawing.push(() => {
        if (hanging.mode === 'lost') reject(new Error('lost'));
        else resolve(hanging.mode === 'late' ? effect() : (value as Value));
      });
    });
  }

  private async slowly(call: () => Promise<void>): Promise<void> {
    const { queueMs } = this.options;
    if (queueMs !== undefined) await new Promise((resolve) => setTimeout(resolve, queueMs));
    await call();
  }

  private queue(name: string, take: (message: string) => void): MessageQueue {
    return {
      send: (message, _, signal) => this.slowly(() => this.call(name, () => take(message), signal)),
    };
  }

  private take(dispatchId: string): void {
    this.queued.add(dispatchId);
    if (this.options.eager) this.begin(dispatchId);
  }

  private begin(dispatchId: string): 'begun' | 'withdrawn' {
    const { item = {}, value } = begun(this.dispatches.get(dispatchId));
    this.dispatches.set(dispatchId, item);
    return value;
  }

  private withdraw(dispatchId: string): 'withdrawn' | 'begun' {
    const { dispatch = {}, value } = withdrawnDispatch(
      { dispatch: this.dispatches.get(dispatchId), slice: undefined },
      dispatchId,
      0,
    );
    this.dispatches.set(dispatchId, dispatch);
    return value;
  }

  private written<Value>({ item, value }: Written<IdempotencyRecord, Value>): Value {
    this.record = item;
    return value;
  }
}

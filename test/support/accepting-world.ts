import type { Context } from 'aws-lambda';
import { messagesSend } from '../../functions/messages-send.ts';
import { bodyHashOf, type IdempotencyRecord } from '../../lib/messages/accept/idempotency.ts';
import { decodeJob } from '../../lib/messages/accept/job-message.ts';
import type { JobQueue } from '../../lib/messages/accept/job-queue.ts';
import type { QueuedChunk } from '../../lib/messages/chunk.ts';
import type { PlatformTemplate } from '../../lib/templates/model/template.ts';
import { begun, type JobItem, withdrawnJob } from './messages-table/job-item.ts';
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
  /** The fan-out, or a worker, begins a job as soon as it is queued; otherwise after everything else. */
  readonly eager?: boolean;
  /** A run that died has used the key; its job was begun or not. */
  readonly died?: 'begun' | 'not begun';
}

export const earlierJobId = 'EARLIER';
const newJobId = 'NEW';

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
  private readonly described = new Set<string>();
  /** A consumer of their queue can read these jobs. */
  private readonly queued = new Set<string>();
  private readonly jobs = new Map<string, JobItem>();
  private record: IdempotencyRecord | undefined;

  constructor(options: AcceptingOptions) {
    this.options = options;
    this.endsAtMs = Date.now() + options.remainingMs;
  }

  async send(body: object, key?: string): Promise<SendAnswer> {
    const { died } = this.options;
    if (died !== undefined) {
      const startedAtMs = Date.now() - 35_000;
      this.record = { bodyHash: bodyHashOf(body), jobId: earlierJobId, startedAtMs, state: 'running' };
      if (died === 'begun') this.begin(earlierJobId);
    }
    const context = { getRemainingTimeInMillis: () => Math.max(0, this.endsAtMs - Date.now()) } as Context;
    return answeredOf(await messagesSend(this.ports())(sendEvent(body, key), context));
  }

  /** Lets the container serve another request: calls that hung end, and late calls take effect. */
  thaw(): void {
    for (const goOn of this.thawing.splice(0)) goOn();
  }

  /** Returns the jobs that are sent, now or as soon as the fan-out or a worker reads them. */
  sentJobs(): string[] {
    return [newJobId, earlierJobId].filter((jobId) => this.jobs.get(jobId)?.begun || this.mayBegin(jobId));
  }

  private mayBegin(jobId: string): boolean {
    return this.queued.has(jobId) && !this.jobs.get(jobId)?.withdrawn;
  }

  private ports(): Parameters<typeof messagesSend>[0] {
    const plain = sendPorts(this.options.template, Date.now);
    const { directory, templates } = plain;
    return {
      ...plain,
      directory: { ...directory, findDid: () => this.call('findDid', () => sendableDid) },
      templates: {
        ...templates,
        find: (wanted) => this.call('find', () => templates.find(wanted)),
        refresh: (...args) => this.call('refresh', () => templates.refresh(...args)),
      },
      platformTemplates: { lookUp: (...args) => this.call('lookUp', () => plain.platformTemplates.lookUp(...args)) },
      newJobId: () => newJobId,
      parameters: { store: ({ head }, signal) => this.call('store', () => void this.stored.add(head.jobId), signal) },
      queue: this.queue((message) => {
        const { jobId } = decodeJob(message);
        // The fan-out drops a job that it does not find.
        if (this.stored.has(jobId) && this.described.has(jobId)) this.take(jobId);
      }),
      urgentQueue: this.queue((message) => this.take((JSON.parse(message) as QueuedChunk).jobId)),
      acceptance: {
        describe: ({ head }, signal) => this.call('describe', () => void this.described.add(head.jobId), signal),
        list: (_, signal) => this.call('list', () => undefined, signal),
        withdraw: (jobId, signal) => this.call('withdraw', () => this.withdraw(jobId), signal),
        begin: ({ head }, signal) => this.call('begin', () => this.begin(head.jobId), signal),
        beginStraight: ({ jobId }, signal) => this.call('begin', () => this.begin(jobId), signal),
      },
      records: {
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

  private queue(take: (message: string) => void): JobQueue {
    return {
      send: (message, _, signal) => this.slowly(() => this.call('send', () => take(message), signal)),
    };
  }

  private take(jobId: string): void {
    this.queued.add(jobId);
    if (this.options.eager) this.begin(jobId);
  }

  private begin(jobId: string): 'begun' | 'withdrawn' {
    const { item = {}, value } = begun(this.jobs.get(jobId));
    this.jobs.set(jobId, item);
    return value;
  }

  private withdraw(jobId: string): 'withdrawn' | 'begun' {
    const { job = {}, value } = withdrawnJob({ job: this.jobs.get(jobId), slice: undefined }, jobId, 0);
    this.jobs.set(jobId, job);
    return value;
  }

  private written<Value>({ item, value }: Written<IdempotencyRecord, Value>): Value {
    this.record = item;
    return value;
  }
}

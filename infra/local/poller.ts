import { setTimeout as pause } from 'node:timers/promises';
import { DeleteMessageBatchCommand, type Message, ReceiveMessageCommand, type SQSClient } from '@aws-sdk/client-sqs';
import type { SQSRecord } from 'aws-lambda';
import { usualInstances } from './instance-limits.ts';
import type { LocalEventSource } from './local-template.ts';
import { queueArn } from './physical-names.ts';
import { invocationMaxBytes, recordOf, recordsDone, withinPayloadLimit } from './sqs-event.ts';

export interface PollerOptions {
  /** A single attempt must be allowed much more than the one second of a long poll. */
  readonly client: SQSClient;
  readonly eventSources: readonly LocalEventSource[];
  readonly queueUrl: (queueName: string) => string;
  readonly runner: {
    invoke(
      functionId: string,
      event: unknown,
    ): Promise<{ ok: true; payload: unknown } | { ok: false; error: string; message: string }>;
  };
  /**
   * The number limits the concurrent invocations of a function, whatever the maximumConcurrency of its event source.
   */
  readonly maximumInstances?: (functionId: string) => number;
  readonly nameOf?: (functionId: string) => string;
  readonly report: (line: string) => void;
}

export interface Poller {
  /** Stops receiving; resolves when nothing is in flight. */
  pause(): Promise<void>;
  resume(): void;
  /**
   * Stops for good. It waits up to `graceMs` for work in flight; unfinished messages return to their queue after the
   * visibility timeout.
   */
  stop(graceMs?: number): Promise<void>;
}

/**
 * A receive must not be cut off, so its wait is short: the server would give the next message to the closed connection
 * and hide it for the visibility timeout.
 */
const longPollSeconds = 1;
const defaultGraceMs = 1_500;
const afterTroubleMs = 1_000;
const windowPollMs = 50;
const sqsBatchSize = 10;

/**
 * Runs Lambda's event source mappings for SQS: it feeds queues to functions until stopped. Messages stay hidden for six
 * timeouts of their function (infra/queues.ts), so up to five may pass before a process begins to work.
 */
export function startPoller(options: PollerOptions): Poller {
  const mappings = options.eventSources.map((source) => new EventSourceMapping(options, source));
  for (const mapping of mappings) mapping.resume();
  const each = async (action: (mapping: EventSourceMapping) => Promise<void>) => {
    await Promise.all(mappings.map(action));
  };
  return {
    pause: () => each((mapping) => mapping.pause()),
    resume: () => {
      for (const mapping of mappings) mapping.resume();
    },
    stop: (graceMs = defaultGraceMs) => each((mapping) => mapping.stop(graceMs)),
  };
}

/**
 * A slot of the queue processes one batch at a time; with work, it leaves a new slot polling, up to the concurrency; an
 * empty slot ends if another polls. So an idle queue costs one long poll.
 */
class EventSourceMapping {
  readonly #options: PollerOptions;
  readonly #source: LocalEventSource;
  readonly #queueUrl: string;
  readonly #queueArn: string;
  readonly #maximumSlots: number;
  readonly #slots = new Set<Promise<void>>();
  #polling = 0;
  #running = false;
  #stopped = false;

  constructor(options: PollerOptions, source: LocalEventSource) {
    this.#options = options;
    this.#source = source;
    this.#queueUrl = options.queueUrl(source.queueName);
    this.#queueArn = queueArn(source.queueName);
    this.#maximumSlots = Math.min(
      source.maximumConcurrency ?? Number.POSITIVE_INFINITY,
      options.maximumInstances?.(source.functionId) ?? usualInstances,
    );
  }

  resume(): void {
    if (this.#stopped) return;
    this.#running = true;
    this.#keepOnePolling();
  }

  async pause(): Promise<void> {
    this.#running = false;
    while (this.#slots.size > 0) await Promise.all(this.#slots);
  }

  async stop(graceMs: number): Promise<void> {
    const grace = new AbortController();
    const graceOver = pause(graceMs, undefined, { signal: grace.signal }).catch(() => undefined);
    await Promise.race([this.pause(), graceOver]);
    grace.abort();
    this.#stopped = true;
  }

  #keepOnePolling(): void {
    if (!this.#running || this.#polling > 0 || this.#slots.size >= this.#maximumSlots) return;
    const slot = this.#runSlot().finally(() => this.#slots.delete(slot));
    this.#slots.add(slot);
  }

  async #runSlot(): Promise<void> {
    while (this.#running) {
      this.#polling += 1;
      const messages = await this.#collect();
      this.#polling -= 1;
      if (messages.length === 0) {
        if (this.#polling > 0) return;
        continue;
      }
      this.#keepOnePolling();
      const records = messages.map((message) => recordOf(message, this.#queueArn));
      for (const batch of withinPayloadLimit(records)) await this.#handOver(batch);
    }
  }

  /**
   * The first receive waits for messages; further ones fill the batch while its window is open and the invocation has
   * room.
   */
  async #collect(): Promise<Message[]> {
    const { batchSize, windowSeconds } = this.#source;
    const messages = await this.#receive(batchSize, longPollSeconds);
    const windowEndMs = performance.now() + windowSeconds * 1000;
    while (messages.length > 0 && messages.length < batchSize && this.#running) {
      if (performance.now() >= windowEndMs || bytesOf(messages) >= invocationMaxBytes) break;
      const more = await this.#receive(batchSize - messages.length, 0);
      messages.push(...more);
      if (more.length === 0) await pause(windowPollMs);
    }
    return messages;
  }

  async #receive(wanted: number, waitSeconds: number): Promise<Message[]> {
    const receive = new ReceiveMessageCommand({
      QueueUrl: this.#queueUrl,
      MaxNumberOfMessages: Math.min(wanted, sqsBatchSize),
      WaitTimeSeconds: waitSeconds,
      MessageSystemAttributeNames: ['All'],
      MessageAttributeNames: ['All'],
    });
    try {
      const { Messages } = await this.#options.client.send(receive);
      return Messages ?? [];
    } catch (error) {
      if (!this.#running) return [];
      this.#options.report(`receiving from ${this.#source.queueName} failed: ${String(error)}`);
      await pause(afterTroubleMs);
      return [];
    }
  }

  async #handOver(records: readonly SQSRecord[]): Promise<void> {
    const { functionId, reportBatchItemFailures } = this.#source;
    const result = await this.#options.runner
      .invoke(functionId, { Records: records })
      .catch((error: unknown) => ({ ok: false as const, error: String(error) }));
    if (this.#stopped) return;
    if (!result.ok) {
      const name = this.#options.nameOf?.(functionId) ?? functionId;
      this.#options.report(`${name} failed (${result.error}); its batch of ${records.length} comes again`);
      return;
    }
    await this.#delete(reportBatchItemFailures ? recordsDone(records, result.payload) : records);
  }

  /** A message that cannot be deleted comes again, as in SQS: delivery is at least once. */
  async #delete(records: readonly SQSRecord[]): Promise<void> {
    const requests: Promise<unknown>[] = [];
    for (let start = 0; start < records.length; start += sqsBatchSize) {
      const entries = records
        .slice(start, start + sqsBatchSize)
        .map(({ receiptHandle }, index) => ({ Id: String(index), ReceiptHandle: receiptHandle }));
      requests.push(
        this.#options.client.send(new DeleteMessageBatchCommand({ QueueUrl: this.#queueUrl, Entries: entries })).then(
          ({ Failed = [] }) => {
            if (Failed.length > 0) this.#reportUndeleted(Failed.length, Failed[0]?.Code);
          },
          (error: unknown) => this.#reportUndeleted(entries.length, error),
        ),
      );
    }
    await Promise.all(requests);
  }

  #reportUndeleted(count: number, reason: unknown): void {
    this.#options.report(`${count} messages of ${this.#source.queueName} were done but not deleted: ${String(reason)}`);
  }
}

function bytesOf(messages: readonly Message[]): number {
  return messages.reduce((sum, { Body = '' }) => sum + Buffer.byteLength(Body), 0);
}

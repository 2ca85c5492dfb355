import { encodeRound } from '../../lib/messages/accept/round-message.ts';
import { messageIdOf } from '../../lib/messages/dispatch/head.ts';
import type { DispatchItemState } from '../../lib/messages/dispatch/item.ts';
import type { WholeDispatch } from '../../lib/messages/dispatch/whole-dispatch.ts';
import { lookAtBacklog } from '../../lib/messages/fan-out/backlog-look.ts';
import { recordOptOut } from '../../lib/opt-outs/record-opt-out.ts';
import type { ModelDelivery } from './queue-model.ts';
import type { Run } from './runs.ts';
import { acceptedBy } from './world-acceptance.ts';
import { type Consumer, consumersOf } from './world-consumers.ts';
import { type Answer, type SaidStop, startMs, WorldParts } from './world-parts.ts';

export { startMs, type WorldRules } from './world-parts.ts';

/**
 * Runs the whole way of a message, from the accepted dispatch to its last receipt, on the real policies in virtual
 * time. Stores are in memory, queues behave as SQS may, and processes die.
 */
export class PipelineWorld extends WorldParts {
  /** Counts the runs that died, or exceeded the time-out of their function. */
  killedRuns = 0;
  #runs = 0;
  #quietAt: number | undefined;

  /** Accepts a valid request. The acceptance may die at any moment. */
  accept(dispatch: WholeDispatch): void {
    const { dispatchId } = dispatch.head;
    for (const index of dispatch.recipients.keys())
      this.accepted.push({ messageId: messageIdOf({ dispatchId, index }), dispatch });
    const run = this.newRun();
    const diesAfterMs = this.rules.lifeMs('acceptance');
    if (diesAfterMs !== undefined) void this.time.sleep(diesAfterMs).then(() => run.die());
    void this.accepting(dispatch, run).then((answer) => this.answers.set(dispatchId, answer));
  }

  /** Changes the dispatch's state at a time, unless it is stopped; undefined removes the state. */
  async dispatchStands(dispatchId: string, state: DispatchItemState | undefined, afterMs: number): Promise<void> {
    await this.time.sleep(afterMs);
    const { states } = this.table;
    if (states.get(dispatchId)?.stop === undefined) states.set(dispatchId, state ?? {});
  }

  /** A person stops after so long. The word is recorded as often as needed, as the inbound queue repeats it. */
  async personStops(said: Pick<SaidStop, 'scope' | 'recipient'>, afterMs: number): Promise<void> {
    await this.time.sleep(afterMs);
    const stop: SaidStop = { ...said, storedAt: undefined };
    this.stops.push(stop);
    const { scope, recipient } = said;
    const word = { says: 'stopped', atMs: this.time.nowMs, source: 'reply' } as const;
    for (;;) {
      try {
        const ports = this.stores.ofHearing(this.newRun());
        await recordOptOut({ scope, recipients: [recipient], word }, ports);
        break;
      } catch {
        await this.time.sleep(1_000);
      }
    }
    stop.storedAt = this.moment();
  }

  /** Runs the world until its queues are empty, or until so much time has passed. */
  async run(longestMs: number): Promise<void> {
    for (const consumer of this.consumers()) {
      for (let worker = 0; worker < consumer.workers; worker += 1) void this.#work(consumer);
    }
    void this.#look();
    const isOver = () => this.#isQuiet() || this.time.nowMs - startMs > longestMs;
    do {
      await this.time.pass(() => this.stores.isBusy() || isOver());
    } while (this.stores.isBusy());
  }

  get elapsedMs(): number {
    return this.time.nowMs - startMs;
  }

  get queuedChunks(): number {
    return this.queues.dispatch.live + this.queues.small.live;
  }

  get deadLetters(): number {
    return Object.values(this.queues).reduce((sum, { deadLetters }) => sum + deadLetters.length, 0);
  }

  protected accepting(dispatch: WholeDispatch, run: Run): Promise<Answer> {
    return acceptedBy(this, dispatch, run);
  }

  protected consumers(): Consumer[] {
    return consumersOf(this);
  }

  protected get isEmpty(): boolean {
    return this.table.backlog.size === 0 && Object.values(this.queues).every(({ isEmpty }) => isEmpty);
  }

  #isQuiet(): boolean {
    const empty = this.isEmpty;
    if (!empty) this.#quietAt = undefined;
    else this.#quietAt ??= this.time.nowMs;
    // A delayed call may still arrive.
    return this.#quietAt !== undefined && this.time.nowMs - this.#quietAt > 120_000;
  }

  /** Looks at the backlog each minute, as its schedule does, but for minutes in which nothing is due. */
  async #look(): Promise<void> {
    for (;;) {
      const dueMs = [...this.table.backlog.values()].map(({ dispatchId, notBeforeMs }) =>
        Math.max(notBeforeMs, this.table.dispatches.get(dispatchId)?.round?.dueMs ?? 0),
      );
      await this.time.sleep(Math.max(60_000, Math.min(...dueMs, this.time.nowMs + 900_000) - this.time.nowMs));
      const { clockSkewMs, log } = this.rules;
      const run = this.newRun();
      const skewMs = clockSkewMs();
      await lookAtBacklog({
        ...this.stores.ofLook(run),
        wake: (message) => run.call('wake', () => this.queues.dispatches.send(encodeRound(message))),
        nowMs: () => this.time.nowMs + skewMs,
        log: (event, facts) => log?.('look', event, facts),
      }).catch(() => undefined);
    }
  }

  async #work(consumer: Consumer): Promise<void> {
    for (;;) {
      const { queue, batchSize, gatherMs } = consumer;
      const batch = gatherMs === undefined ? queue.poll(batchSize) : queue.pollWithin(gatherMs, batchSize);
      await this.#invoke(consumer, await batch);
    }
  }

  async #invoke({ name, queue, timeoutMs, handle }: Consumer, batch: readonly ModelDelivery[]): Promise<void> {
    const { lifeMs, clockSkewMs } = this.rules;
    this.#runs += 1;
    const run = this.newRun();
    const skewMs = clockSkewMs();
    const bornMs = this.time.nowMs;
    const clock = {
      nowMs: () => this.time.nowMs + skewMs,
      remainingMs: () => bornMs + timeoutMs - this.time.nowMs,
      invocation: `run-${this.#runs}`,
    };
    const handled = handle(batch, run, clock).catch(() => batch.map(({ messageId }) => messageId));
    const died = this.time.sleep(Math.min(timeoutMs, lifeMs(name) ?? timeoutMs)).then(() => undefined);
    const again = await Promise.race([handled, died]);
    this.meter.ran(name, this.time.nowMs - bornMs);
    this.meter.countDelivery(batch.reduce((sum, { body }) => sum + Buffer.byteLength(body), 0));
    if (again === undefined) {
      this.killedRuns += 1;
      return run.die();
    }
    for (const { messageId, receiptHandle } of batch) {
      if (!again.includes(messageId)) queue.acknowledge(receiptHandle);
    }
  }
}

import { messageIdOf } from '../../lib/messages/dispatch/head.ts';
import type { DispatchStop } from '../../lib/messages/dispatch/item.ts';
import type { WholeDispatch } from '../../lib/messages/dispatch/whole-dispatch.ts';
import { callsOfSender } from '../../lib/messages/sender/number-parts.ts';
import { announcedStop } from '../../lib/messages/sender/stop-news.ts';
import { wakeForStopped } from '../../lib/messages/sender/wake-accepted.ts';
import { recordOptOut } from '../../lib/opt-outs/record-opt-out.ts';
import type { ModelDelivery } from './queue-model.ts';
import { acceptedBy } from './world-acceptance.ts';
import { type Consumer, consumersOf } from './world-consumers.ts';
import { type SaidStop, startMs, WorldParts } from './world-parts.ts';
import { sendersOfWorld, sweptBy, wakesOf } from './world-senders.ts';

export { startMs, type WorldRules } from './world-parts.ts';

/** Lambda keeps an idle process for some minutes. */
const warmForMs = 300_000;

/**
 * Runs the whole way of a message, from the accepted dispatch to its last receipt, on the real policies in virtual
 * time. Stores are in memory, queues behave as SQS may, and processes die.
 */
export class PipelineWorld extends WorldParts {
  /** The numbers have so many senders; when undefined, as many as their pace needs. */
  parts: number | undefined;
  /** The sweeper is absent before. */
  sweepsFromMs = 0;
  /** Counts the runs that died, or exceeded the time-out of their function. */
  killedRuns = 0;
  #runs = 0;
  #quietAt: number | undefined;

  /** Accepts a valid request. The acceptance may die at any moment. */
  accept(dispatch: WholeDispatch): void {
    const { dispatchId } = dispatch.head;
    this.dispatches.set(dispatchId, dispatch);
    for (const index of dispatch.recipients.keys())
      this.accepted.push({ messageId: messageIdOf({ dispatchId, index }), dispatch });
    const run = this.newRun();
    const diesAfterMs = this.rules.lifeMs('acceptance');
    if (diesAfterMs !== undefined) void this.time.sleep(diesAfterMs).then(() => run.die());
    void acceptedBy(this, dispatch, run).then((answer) => this.answers.set(dispatchId, answer));
  }

  /**
   * Cancels the dispatch after so long, as its client asks for it. The request may die between announcement and stop, and
   * is repeated then, or before its wake.
   */
  async cancel(dispatchId: string, stop: DispatchStop, afterMs: number): Promise<void> {
    await this.time.sleep(afterMs);
    const head = this.dispatches.get(dispatchId)?.head;
    if (head === undefined) return;
    const run = this.newRun();
    const chance = this.rules.random();
    const { stop: store, backlog } = this.stores.ofCancellation(run);
    const stores = announcedStop(async (...own) => {
      if (chance > 0.85) throw new Error('the request has died');
      return await store(...own);
    }, backlog);
    try {
      await stores(head, { ...stop, atMs: this.time.nowMs });
    } catch {
      return await this.cancel(dispatchId, stop, 1_000);
    }
    if (chance < 0.3) return;
    const { parts, rules } = this;
    const limitOf = async () => (parts === undefined ? rules.limitPerSecond : parts * callsOfSender);
    await wakeForStopped(head, { limitOf, wake: wakesOf(this, run) }).catch(() => undefined);
  }

  /** The operator erases a recipient of a dispatch that has begun, as erase-dispatch-store.ts marks it. */
  async recipientErased(dispatchId: string, index: number, afterMs: number): Promise<void> {
    await this.time.sleep(afterMs);
    const { states, heads } = this.table;
    const state = states.get(dispatchId);
    if (state === undefined || !heads.has(dispatchId)) return;
    states.set(dispatchId, { ...state, erased: new Set([...(state.erased ?? []), index]) });
    this.erasures.set(messageIdOf({ dispatchId, index }), this.moment());
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
    for (const consumer of [...consumersOf(this), ...sendersOfWorld(this)]) void this.#start(consumer);
    void this.#sweep();
    const isOver = () => this.#isQuiet() || this.time.nowMs - startMs > longestMs;
    do {
      await this.time.pass(() => this.stores.isBusy() || isOver());
    } while (this.stores.isBusy());
  }

  get elapsedMs(): number {
    return this.time.nowMs - startMs;
  }

  /** Wakes need no dead letters: the sweeper finds what is due. */
  get deadLetters(): number {
    const { dispatch: _wakes, ...queues } = this.queues;
    return Object.values(queues).reduce((sum, { deadLetters }) => sum + deadLetters.length, 0);
  }

  get #isEmpty(): boolean {
    return this.backlog.size === 0 && Object.values(this.queues).every(({ isEmpty }) => isEmpty);
  }

  #isQuiet(): boolean {
    const empty = this.#isEmpty;
    if (!empty) this.#quietAt = undefined;
    else this.#quietAt ??= this.time.nowMs;
    // A delayed call may still arrive.
    return this.#quietAt !== undefined && this.time.nowMs - this.#quietAt > 120_000;
  }

  /** Sweeps each minute. */
  async #sweep(): Promise<void> {
    for (;;) {
      await this.time.sleep(60_000);
      if (this.time.nowMs < this.sweepsFromMs) continue;
      const skewMs = this.rules.clockSkewMs();
      await sweptBy(this, this.newRun(), () => this.time.nowMs + skewMs).catch(() => undefined);
    }
  }

  /** Starts the workers of a queue, all at once or as Lambda does. */
  async #start(consumer: Consumer): Promise<void> {
    const { firstWorkers, addedEachMinute } = this.rules.starts ?? {
      firstWorkers: consumer.workers,
      addedEachMinute: 0,
    };
    let count = 0;
    const grow = (most: number) => {
      for (; count < Math.min(most, consumer.workers); count += 1) void this.#work(consumer);
    };
    grow(firstWorkers);
    while (count < consumer.workers) {
      await this.time.sleep(1_000);
      if (consumer.queue.waiting > 0) grow(count + addedEachMinute / 60);
    }
  }

  async #work(consumer: Consumer): Promise<void> {
    let warmUntilMs = this.rules.starts === undefined ? Number.POSITIVE_INFINITY : 0;
    for (;;) {
      const { queue, batchSize, gatherMs } = consumer;
      const batch = await (gatherMs === undefined ? queue.poll(batchSize) : queue.pollWithin(gatherMs, batchSize));
      if (this.time.nowMs > warmUntilMs) await this.time.sleep(this.rules.starts?.coldMs ?? 0);
      await this.#invoke(consumer, batch);
      if (this.rules.starts !== undefined) warmUntilMs = this.time.nowMs + warmForMs;
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

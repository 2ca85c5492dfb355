import type { World } from '../state.ts';
import { signatureOf } from './envelope.ts';
import type { Batch } from './outbox.ts';

const answerWithinMs = 10_000;
/** A timer sleeps no longer: it then checks again, because the clock may have been advanced. */
const longestSleepMs = 60_000;

/**
 * The emitter has one POST at a time to each address, so that updates that become due meanwhile share the next. It
 * reports only the first failure of an address and its recovery.
 */
export class Emitter {
  readonly #world: () => World;
  readonly #report: (line: string) => void;
  /** Each world has its own map, so that a reset starts empty. */
  readonly #busy = new WeakMap<World, Map<string, Promise<void>>>();
  readonly #stopped = new AbortController();
  #timer: NodeJS.Timeout | undefined;

  constructor(world: () => World, report: (line: string) => void) {
    this.#world = world;
    this.#report = report;
  }

  /** Sets the timer for the next due time, after anything may have been planned. */
  arm(): void {
    const world = this.#world();
    const nowMs = world.clock.nowMs();
    const times = [world.outbox, world.lifeCycle, world.holds, world.pacing].flatMap((each) => each.nextMs() ?? []);
    clearTimeout(this.#timer);
    if (times.length === 0 || this.#stopped.signal.aborted) return;
    const sleepMs = Math.min(longestSleepMs, Math.max(0, Math.min(...times) - nowMs));
    this.#timer = setTimeout(() => void this.flush(), sleepMs);
    this.#timer.unref();
  }

  /** Tries everything that is due; resolves when each was tried once, POSTs in progress included. */
  async flush(): Promise<void> {
    const world = this.#world();
    world.settle(world.clock.nowMs());
    for (const lane of world.outbox.lanesWithWork(world.clock.nowMs())) this.#begin(world, lane);
    await Promise.all(this.#lanesOf(world).values());
    this.arm();
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#stopped.abort();
  }

  #lanesOf(world: World): Map<string, Promise<void>> {
    const busy = this.#busy.get(world) ?? new Map<string, Promise<void>>();
    this.#busy.set(world, busy);
    return busy;
  }

  #begin(world: World, lane: string): void {
    const busy = this.#lanesOf(world);
    if (busy.has(lane)) return;
    // `done` runs in the turn that finds the lane empty, so that a later update starts a new drain.
    const draining = Promise.resolve().then(() => this.#drain(world, lane, () => busy.delete(lane)));
    busy.set(lane, draining);
  }

  async #drain(world: World, lane: string, done: () => void): Promise<void> {
    try {
      while (!this.#stopped.signal.aborted && world === this.#world()) {
        const batch = world.outbox.take(lane, world.clock.nowMs());
        if (batch === undefined) return;
        const answer = await this.#post(world, batch);
        if (this.#stopped.signal.aborted) return;
        this.#settle(world, batch, answer);
        // The call moves updates that became due meanwhile into the next POST.
        world.outbox.lanesWithWork(world.clock.nowMs());
      }
    } finally {
      done();
    }
  }

  async #post(world: World, { target, bytes }: Batch): Promise<number | string> {
    const secret = world.apps.get(target.appId)?.secret ?? '';
    try {
      const reply = await fetch(target.url, {
        method: 'POST',
        redirect: 'manual',
        signal: AbortSignal.any([AbortSignal.timeout(answerWithinMs), this.#stopped.signal]),
        headers: {
          'content-type': 'application/json',
          'x-hub-signature': signatureOf(bytes, secret, 'sha1'),
          'x-hub-signature-256': signatureOf(bytes, secret),
        },
        body: new Uint8Array(bytes),
      });
      await reply.arrayBuffer();
      return reply.status;
    } catch (error) {
      return reasonOf(error);
    }
  }

  #settle(world: World, batch: Batch, answer: number | string): void {
    const nowMs = world.clock.nowMs();
    const { target, bytes, updates, fields } = batch;
    const attempt = batch.attempts + 1;
    const taken = typeof answer === 'number' && answer >= 200 && answer <= 299;
    const { failures, before } = world.outbox.settle(batch, taken, nowMs);
    const facts = { app_id: target.appId, url: target.url, updates, fields, bytes: bytes.byteLength, attempt, answer };
    world.deliveries.add({ ...facts, at: new Date(nowMs).toISOString() }, bytes);
    if (failures === 1) this.#report(`webhooks: ${target.url} answers ${answer}; trying again`);
    if (taken && before > 0) this.#report(`webhooks: ${target.url} takes them again`);
  }
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { cause } = error;
  if (cause instanceof Error && 'code' in cause) return String(cause.code);
  return error.name;
}

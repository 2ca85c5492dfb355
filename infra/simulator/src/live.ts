import type { ServerResponse } from 'node:http';
import type { Simulation } from './control-route.ts';

const lookEveryMs = 200;
/** A comment line after this time keeps the connection from looking dead. */
const silentMs = 15_000;
const mostWatchers = 20;

interface Watcher {
  readonly outgoing: ServerResponse;
  told: string;
  toldAtMs: number;
}

/**
 * Server-sent events tell pages that something changed, at most five times a second; the pages fetch it. Nothing runs
 * while no page watches.
 */
export class LiveChanges {
  readonly #simulation: Simulation;
  readonly #watchers = new Set<Watcher>();
  #timer: NodeJS.Timeout | undefined;

  constructor(simulation: Simulation) {
    this.#simulation = simulation;
  }

  get watching(): number {
    return this.#watchers.size;
  }

  watch(outgoing: ServerResponse): void {
    if (this.#watchers.size >= mostWatchers) {
      outgoing.writeHead(503, { 'content-type': 'application/json', 'x-content-type-options': 'nosniff' });
      outgoing.end(JSON.stringify({ message: `${mostWatchers} pages watch already` }));
      return;
    }
    outgoing.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' });
    const watcher: Watcher = { outgoing, told: '', toldAtMs: 0 };
    this.#watchers.add(watcher);
    outgoing.once('close', () => this.#leave(watcher));
    this.#look();
    this.#timer ??= setInterval(() => this.#look(), lookEveryMs).unref();
  }

  #leave(watcher: Watcher): void {
    this.#watchers.delete(watcher);
    if (this.#watchers.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  #look(): void {
    const counters = countersOf(this.#simulation);
    const key = JSON.stringify(counters);
    const nowMs = performance.now();
    for (const watcher of this.#watchers) {
      // A slow page (backpressure) gets the newest state once it reads again.
      if (watcher.outgoing.writableNeedDrain) continue;
      if (watcher.told === key && nowMs - watcher.toldAtMs < silentMs) continue;
      const event = { ...counters, now_ms: this.#simulation.world.clock.nowMs() };
      watcher.outgoing.write(watcher.told === key ? ': still here\n\n' : `data: ${JSON.stringify(event)}\n\n`);
      watcher.told = key;
      watcher.toldAtMs = nowMs;
    }
  }
}

/** Returns counters, of which at least one differs whenever a page has something new to read. */
function countersOf({ world, worldId, attempts, controlled }: Simulation) {
  const { planned, due } = world.outbox.waiting;
  const stopped = world.preferences.all(world.clock.nowMs()).length;
  return {
    world: worldId,
    messages: world.messages.total,
    refused: world.messages.refused.total,
    touched: world.messages.touched,
    requests: world.exchanges.total,
    answered: world.exchanges.answered,
    templates: world.templates.changes,
    // Sizes count too, because faults, rules, holds, pacing and magic recipients change by themselves.
    settings: `${controlled.times}/${world.faults.size}/${world.receiptRules.size}/${world.holds.size}/${world.pacing.changes}/${stopped}`,
    webhooks: world.deliveries.total,
    events: attempts.total,
    // A magic recipient stops later than the stop was planned.
    people: `${world.personActs.total}/${stopped}`,
    planned,
    due,
  };
}

import { syncBuiltinESMExports } from 'node:module';
import timers from 'node:timers';
import { vi } from 'vitest';

const real = { setTimeout: timers.setTimeout, clearTimeout: timers.clearTimeout };

/**
 * Fakes the timers, also those of node:timers, which the edge uses, and keeps the product's log lines off the terminal.
 */
export function fakeTimers(config: Parameters<typeof vi.useFakeTimers>[0]): void {
  vi.useFakeTimers(config);
  Object.assign(timers, { setTimeout: globalThis.setTimeout, clearTimeout: globalThis.clearTimeout });
  syncBuiltinESMExports();
  vi.spyOn(process.stdout, 'write').mockImplementation(() => true);
}

/** Stops the clocks of requests: timeouts and the passing of time are steps of an exploration. */
export function stopTimers(): void {
  fakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  vi.spyOn(AbortSignal, 'timeout').mockImplementation(() => new AbortController().signal);
}

/** Restores the timers and all mocks. */
export function restoreTimers(): void {
  vi.useRealTimers();
  vi.restoreAllMocks();
  Object.assign(timers, real);
  syncBuiltinESMExports();
}

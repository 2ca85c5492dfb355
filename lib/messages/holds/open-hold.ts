import type { LogEvent, LogFacts } from '../../observe/log.ts';
import { count } from '../../observe/metrics.ts';
import type { HoldRule } from './hold.ts';
import type { HoldsOfWabas } from './hold-store.ts';
import { type HoldScope, parkScopeOf } from './scope.ts';

/** Returns the metric of a standing hold, or undefined for a template's, which ends by itself. */
export function standingMetricOf(scope: HoldScope): 'HoldsStanding' | 'CategoryHoldsStanding' | undefined {
  if (parkScopeOf(scope) === 'template') return undefined;
  return scope === 'waba' || scope.startsWith('number:') ? 'HoldsStanding' : 'CategoryHoldsStanding';
}

/** Counts a hold that began, or that a probe found still standing. Its alarm rings as long as that goes on. */
export function countStanding(scope: HoldScope): void {
  const metric = standingMetricOf(scope);
  if (metric !== undefined) count(metric);
}

export interface OpeningPorts {
  readonly change: HoldsOfWabas['change'];
  readonly log: (event: LogEvent, facts: LogFacts) => void;
}

/** `atMs` identifies the hold. `rule` opens the hold, or counts until it does. */
export interface HoldOpening {
  readonly wabaId: string;
  readonly scope: HoldScope;
  readonly atMs: number;
  readonly rule: HoldRule;
}

/** Opens a hold and alerts operators; returns true if this call opened it. Throws when the store cannot be reached. */
export async function openHold(
  { wabaId, scope, atMs, rule }: HoldOpening,
  { change, log }: OpeningPorts,
): Promise<boolean> {
  const hold = (await change(wabaId, rule))?.holds[scope];
  if (hold?.sinceMs !== atMs) return false;
  reportOpened({ wabaId, scope, code: hold.code }, log);
  return true;
}

/** Reports a new hold to operators: a paused template in the log only, anything else as an alarm too. */
export function reportOpened(
  hold: { readonly wabaId: string; readonly scope: HoldScope; readonly code: string },
  log: OpeningPorts['log'],
): void {
  log('hold.opened', hold);
  if (parkScopeOf(hold.scope) !== 'template') count('HoldsOpened');
  countStanding(hold.scope);
}

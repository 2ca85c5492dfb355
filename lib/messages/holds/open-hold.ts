import type { LogEvent, LogFacts } from '../../observe/log.ts';
import { count } from '../../observe/metrics.ts';
import type { HoldRule } from './hold.ts';
import type { HoldsOfWabas } from './hold-store.ts';
import { type HoldScope, parkScopeOf } from './scope.ts';

/** What counts a hold while it stands; undefined of a template's, which ends by itself. */
export function standingMetricOf(scope: HoldScope): 'HoldsStanding' | 'CategoryHoldsStanding' | undefined {
  if (parkScopeOf(scope) === 'template') return undefined;
  return scope === 'waba' || scope.startsWith('number:') ? 'HoldsStanding' : 'CategoryHoldsStanding';
}

/** Counts a hold that has begun, or that a message has found to stand still: its alarm rings as long as that goes on. */
export function countStanding(scope: HoldScope): void {
  const metric = standingMetricOf(scope);
  if (metric !== undefined) count(metric);
}

export interface OpeningPorts {
  readonly change: HoldsOfWabas['change'];
  readonly log: (event: LogEvent, facts: LogFacts) => void;
}

/** What is found to be held, at a moment that names the hold; the rule opens it, or counts until it does. */
export interface Opening {
  readonly wabaId: string;
  readonly scope: HoldScope;
  readonly atMs: number;
  readonly rule: HoldRule;
}

/** Opens a hold, and tells operators when it was this that opened it. True then. Throws when the store cannot be reached. */
export async function openHold(
  { wabaId, scope, atMs, rule }: Opening,
  { change, log }: OpeningPorts,
): Promise<boolean> {
  const hold = (await change(wabaId, rule))?.holds[scope];
  if (hold?.sinceMs !== atMs) return false;
  tellOpened({ wabaId, scope, code: hold.code }, log);
  return true;
}

/** Tells operators of a hold that has begun: of a paused template only the log, of anything else the alarm too. */
export function tellOpened(
  hold: { readonly wabaId: string; readonly scope: HoldScope; readonly code: string },
  log: OpeningPorts['log'],
): void {
  log('hold.opened', hold);
  if (parkScopeOf(hold.scope) !== 'template') count('HoldsOpened');
  countStanding(hold.scope);
}

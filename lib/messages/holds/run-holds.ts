import { errorName } from '../../observe/error-name.ts';
import type { LogEvent, LogFacts } from '../../observe/log.ts';
import type { CallFacts } from '../dispatch/call-facts.ts';
import type { DispatchItemState, DispatchStop } from '../dispatch/item.ts';
import { type ByDispatchState, byDispatchState } from '../dispatch/item-state.ts';
import type { DispatchItemStates } from '../dispatch/item-store.ts';
import { holdableOf, reasonOf } from './held-dispatch.ts';
import {
  afterAnsweredRun,
  afterSilentRun,
  type HoldReason,
  type HoldRule,
  type Holds,
  inReviewCode,
  opened,
} from './hold.ts';
import { proven } from './hold-ends.ts';
import type { HoldsOfWabas } from './hold-store.ts';
import { countStanding, openHold } from './open-hold.ts';
import { type Probe, type ProbeResult, probeEnded } from './questions.ts';
import { type HoldScope, numberScope, scopeOfRefusal, templateScope } from './scope.ts';

/** The platform has disabled a template that it refuses with this code (FACTS, error codes). */
const disabledCode = '132016';
/** The platform has no such template, or not at present (FACTS, error codes). */
export const notThereCode = 132001;

export interface RunHoldsPorts {
  readonly states: Pick<DispatchItemStates, 'stop'>;
  readonly wabas: Pick<HoldsOfWabas, 'change' | 'takeProbe'>;
  readonly nowMs: () => number;
  readonly log: (event: LogEvent, facts: LogFacts) => void;
}

export interface Refused {
  readonly code: number | undefined;
  readonly reason?: string;
  /** The message was refused so before, and its template was read since. */
  readonly again?: boolean;
}

/**
 * What one run does about holds (D46). Never throws: the next refused or unanswered message finds again what could not
 * be written.
 */
export interface RunHolds {
  saw(wabaId: string, holds: Holds): void;
  /**
   * Opens the hold of a refusal, or stops the dispatch of a disabled template. One that is not there counts as in
   * review. Returns undefined when the refusal concerns this message alone.
   */
  byRefusal(callFacts: CallFacts, refusal: Refused): Promise<Exclude<ByDispatchState, { kind: 'send' }> | undefined>;
  /**
   * Takes the probes of all holds on the dispatch's messages; returns undefined when another worker probes or none is due.
   */
  takeProbes(callFacts: CallFacts): Promise<Probe | undefined>;
  answered(callFacts: CallFacts, question: Probe, result: ProbeResult): Promise<void>;
  /** Notes that the run's calls to the number ended with an answer. */
  afterAnswers(callFacts: CallFacts): Promise<void>;
  /**
   * Notes that the run's calls to the number ended without a clear answer. Returns true when the number is held from
   * now on.
   */
  afterSilence(callFacts: CallFacts, code: string): Promise<boolean>;
  /** The platform took a message that was called at `calledMs`: holds that ended before are proven to be over. */
  taken(callFacts: CallFacts, calledMs: number): Promise<void>;
}

/** Serves one run: messages that are refused together open one hold. */
export function runHolds(ports: RunHoldsPorts): RunHolds {
  const { states, wabas, nowMs, log } = ports;
  const seen = new Map<string, Holds>();
  const openings = new Map<string, Promise<void>>();
  const stops = new Map<string, Promise<DispatchStop>>();

  async function change(wabaId: string, rule: HoldRule): Promise<Holds | undefined> {
    try {
      const after = await wabas.change(wabaId, rule);
      if (after !== undefined) seen.set(wabaId, after);
      return after;
    } catch (error) {
      log('hold.not_changed', { wabaId, error: errorName(error) });
      return undefined;
    }
  }

  async function isOpened(wabaId: string, scope: HoldScope, rule: (atMs: number) => HoldRule): Promise<boolean> {
    const atMs = nowMs();
    return await openHold({ wabaId, scope, atMs, rule: rule(atMs) }, { change, log });
  }

  async function stoppedBy(
    callFacts: CallFacts,
    settlement: Pick<DispatchStop, 'state' | 'code' | 'reason'>,
  ): Promise<DispatchStop> {
    const { dispatchId, clientId } = callFacts;
    const stop: DispatchStop = { ...settlement, atMs: nowMs() };
    try {
      if (await states.stop(callFacts, stop)) log('dispatch.stopped', { dispatchId, clientId, code: stop.code });
    } catch (error) {
      log('dispatch.not_held', { dispatchId, clientId, error: errorName(error) });
    }
    return stop;
  }

  function stoppedOnce(
    callFacts: CallFacts,
    settlement: Pick<DispatchStop, 'state' | 'code' | 'reason'>,
  ): Promise<DispatchStop> {
    const stopping = stops.get(callFacts.dispatchId) ?? stoppedBy(callFacts, settlement);
    stops.set(callFacts.dispatchId, stopping);
    return stopping;
  }

  async function openedOnce(
    { wabaId }: CallFacts,
    scope: HoldScope,
    reason: Pick<HoldReason, 'code' | 'byReading'>,
  ): Promise<void> {
    const name = `${wabaId} ${scope}`;
    const opening =
      openings.get(name) ??
      isOpened(wabaId, scope, (atMs) => opened(scope, { ...reason, nowMs: atMs })).then(() => undefined);
    openings.set(name, opening);
    await opening;
  }

  /** Acceptance had the template, so it is probably in review. A second such refusal counts unless it is held again. */
  async function byMissingTemplate(callFacts: CallFacts, scope: HoldScope, again: boolean) {
    if (again && (await change(callFacts.wabaId, (holds) => holds))?.holds[scope] === undefined) return undefined;
    await openedOnce(callFacts, scope, { code: inReviewCode, byReading: true });
    return heldBack(held(scope, inReviewCode), callFacts);
  }

  function held(scope: HoldScope, code: string): DispatchItemState {
    return { parked: { ...reasonOf(scope, code), sinceMs: nowMs() } };
  }

  function heldBack(state: DispatchItemState, callFacts: CallFacts) {
    const by = byDispatchState(state, callFacts, nowMs());
    return by.kind === 'send' ? undefined : by;
  }

  return {
    saw: (wabaId, holds) => void seen.set(wabaId, holds),

    byRefusal: async (callFacts, { code: number, reason, again = false }) => {
      if (number === undefined) return undefined;
      const code = String(number);
      if (code === disabledCode) {
        return heldBack({ stop: await stoppedOnce(callFacts, { state: 'failed', code, reason }) }, callFacts);
      }
      const message = holdableOf(callFacts);
      if (number === notThereCode) return await byMissingTemplate(callFacts, templateScope(message), again);
      const scope = scopeOfRefusal(number, message);
      if (scope === undefined) return undefined;
      await openedOnce(callFacts, scope, { code });
      return heldBack(held(scope, code), callFacts);
    },

    takeProbes: async (callFacts) => {
      try {
        return await wabas.takeProbe(callFacts.wabaId, holdableOf(callFacts));
      } catch (error) {
        log('hold.not_changed', { wabaId: callFacts.wabaId, error: errorName(error) });
        return undefined;
      }
    },

    answered: async ({ wabaId }, question, result) => {
      const after = await change(wabaId, probeEnded(question, result, nowMs()));
      for (const { scope } of question.of) {
        if (after === undefined) continue;
        if (after.holds[scope] === undefined) log('hold.ended', { wabaId, scope });
        else if (result !== 'taken') countStanding(scope);
      }
    },

    afterAnswers: async ({ wabaId, phoneNumberId }) => {
      const known = seen.get(wabaId);
      if (known?.silences[phoneNumberId] !== undefined) await change(wabaId, afterAnsweredRun({ phoneNumberId }));
    },

    afterSilence: ({ wabaId, phoneNumberId }, code) =>
      isOpened(wabaId, numberScope({ phoneNumberId }), (atMs) =>
        afterSilentRun({ phoneNumberId }, { code, nowMs: atMs }),
      ),

    taken: async (callFacts, calledMs) => {
      const { wabaId } = callFacts;
      const rule = proven(holdableOf(callFacts), calledMs);
      const known = seen.get(wabaId);
      if (known !== undefined && rule(known) !== known) await change(wabaId, rule);
    },
  };
}

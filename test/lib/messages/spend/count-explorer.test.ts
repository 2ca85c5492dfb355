import { expect, test } from 'vitest';
import type { Pricing, Receipt } from '../../../../lib/messages/receipts/receipt.ts';
import { countDispatches } from '../../../../lib/messages/spend/count-dispatches.ts';
import { countReceipts } from '../../../../lib/messages/spend/count-receipts.ts';
import type { CountStep } from '../../../../lib/messages/spend/count-step.ts';
import { clientDays, spendOf } from '../../../../lib/messages/spend/spend.ts';
import { recordKinds, type Statement } from '../../../../lib/messages/spend/statement.ts';
import { shippedRates } from '../../../../lib/pricing/rates.ts';
import { explore, type Step } from '../../../support/exploration.ts';
import { scenarioHead, startMs } from '../../../support/scenario-dispatch.ts';
import { firstUnlessThorough } from '../../../support/thorough.ts';
import { MemoryLedger } from './memory-ledger.ts';

/**
 * Explores every order in which runs append a message's receipts, count and write, while runs die and repeat. At the
 * end the sums hold the message once, at the price of all its receipts; always they equal the statement.
 */
const head = { ...scenarioHead, total: 1, receiptsExpected: true as const };
const { dispatchId } = head;
const marketing: Pricing = { billable: true, type: 'regular', category: 'marketing' };
const free: Pricing = { billable: false, type: 'free_entry_point', category: 'marketing' };

function told(status: string, atMs: number, pricing?: Pricing): Receipt {
  return { dispatchId, index: 0, status, atMs: startMs + atMs, pricing };
}

/** Each run gets these receipts; an entry that stands twice is a repeated delivery. */
const tellings: readonly (readonly (readonly Receipt[])[])[] = [
  [[told('sent', 1, free)], [told('delivered', 2)], [told('sent', 1, free)]],
  [[told('sent', 1, free)], [told('delivered', 2)], [told('delivered', 2), told('read', 3)]],
  [[told('delivered', 2, marketing)], [told('delivered', 2, marketing)], [told('sent', 1, free)]],
  [[told('read', 86_400_000, free)], [told('delivered', 2)], [told('sent', 1, marketing)]],
];

interface Reply {
  readonly value?: unknown;
}

interface Run {
  readonly of: number;
  readonly replies: readonly Reply[];
  readonly ended: boolean;
}

interface State {
  readonly appended: readonly Receipt[];
  readonly statement: Statement | undefined;
  readonly sums: readonly (readonly [string, readonly (readonly [string, number])[]])[];
  readonly runs: readonly Run[];
  readonly faultsLeft: number;
}

interface Call {
  readonly name: 'append' | 'stated' | 'read' | 'messages' | 'write';
  readonly step?: CountStep;
}

const open = Symbol('a call without a reply');

/** Returns the next call of a run after these replies, or undefined at its end. A run depends only on its replies. */
async function nextCall(telling: readonly Receipt[], replies: readonly Reply[]): Promise<Call | undefined> {
  let at = 0;
  let call: Call | undefined;
  const asked = async (asking: Call): Promise<never> => {
    const reply = replies[at++];
    if (reply !== undefined) return reply.value as never;
    call ??= asking;
    throw open;
  };
  const ledger = {
    read: () => asked({ name: 'read' }),
    readMessages: () => asked({ name: 'messages' }),
    write: (step: CountStep) => asked({ name: 'write', step }),
  };
  const ports = { ledger, rates: async () => [shippedRates] as const, nowMs: () => startMs };
  try {
    await asked({ name: 'append' });
    const count = (dispatchIds: readonly string[]) => countDispatches(dispatchIds, ports);
    const countLater = async () => undefined;
    await countReceipts([{ head, receipts: telling }], { stated: () => asked({ name: 'stated' }), count, countLater });
  } catch (error) {
    if (error !== open) throw error;
  }
  return call;
}

function ledgerOf({ appended, statement, sums }: State): MemoryLedger {
  const ledger = new MemoryLedger();
  ledger.add(head, ['5491155550001']);
  ledger.dispatches.get(dispatchId)?.receipts.push(...appended);
  if (statement !== undefined) ledger.statements.set(dispatchId, statement);
  for (const [day, ofDay] of sums) ledger.sums.set(day, new Map(ofDay));
  return ledger;
}

async function carriedOut(state: State, call: Call, telling: readonly Receipt[]) {
  const ledger = ledgerOf(state);
  if (call.name === 'append') return { value: undefined, changed: { appended: [...state.appended, ...telling] } };
  if (call.name === 'stated') return { value: new Map(ledger.statements), changed: {} };
  if (call.name === 'read') return { value: await ledger.read(dispatchId), changed: {} };
  if (call.name === 'messages') return { value: await ledger.readMessages(head), changed: {} };
  const value = call.step !== undefined && (await ledger.write(call.step));
  const sums = [...ledger.sums].map(([day, ofDay]) => [day, [...ofDay]] as const);
  return { value, changed: { statement: ledger.statements.get(dispatchId), sums } };
}

async function successorsOf(state: State, telling: readonly (readonly Receipt[])[]): Promise<Step<State>[]> {
  const steps: Step<State>[] = [];
  for (const [at, run] of state.runs.entries()) {
    if (run.ended) continue;
    const receipts = telling[run.of] ?? [];
    const withRun = (next: Partial<Run>) =>
      state.runs.map((each, place) => (place === at ? { ...each, ...next } : each));
    const call = await nextCall(receipts, run.replies);
    if (call === undefined) {
      steps.push({ does: `run ${at} ends`, state: { ...state, runs: withRun({ ended: true }) } });
      continue;
    }
    const { value, changed } = await carriedOut(state, call, receipts);
    const does = `run ${at}: ${call.name}`;
    steps.push({ does, state: { ...state, ...changed, runs: withRun({ replies: [...run.replies, { value }] }) } });
    if (state.faultsLeft === 0) continue;
    const again = { runs: withRun({ replies: [] }), faultsLeft: state.faultsLeft - 1 };
    steps.push({ does: `run ${at} dies before ${call.name}`, state: { ...state, ...again } });
    steps.push({ does: `run ${at} dies after ${call.name}`, state: { ...state, ...changed, ...again } });
  }
  return steps;
}

const written = (value: unknown) => JSON.stringify(value, (_, part) => (part instanceof Map ? [...part] : part));

test.each(firstUnlessThorough(tellings).map((telling, at) => [at, telling] as const))(
  'told %i: at the end the sums have the message once, as all of its receipts say (R56)',
  async (_at, telling) => {
    const first: State = {
      ...{ appended: [], statement: undefined, sums: [], faultsLeft: 1 },
      runs: telling.map((_each, of) => ({ of, replies: [], ended: false })),
    };
    const truth = ledgerOf({ ...first, appended: telling.flat() });
    await countDispatches([dispatchId], {
      ledger: truth,
      rates: async () => [shippedRates] as const,
      nowMs: () => startMs,
    });
    const wanted = spendOf(truth.days(), 'market');
    let ends = 0;
    const states = await explore(first, {
      successorsOf: (state) => successorsOf(state, telling),
      // Appended receipts are a set.
      keyOf: (state) => written({ ...state, appended: [...new Set(state.appended.map(written))].sort() }),
      check: (state) => {
        const ledger = ledgerOf(state);
        const { units = 0 } = state.statement?.cost ?? {};
        expect(spendOf(ledger.days(), 'did').total.amount).toBe(units / 1e8);
        const days = [...clientDays(ledger.days()).values()];
        const added = recordKinds.map((kind) => days.reduce((sum, day) => sum + day[kind], 0));
        expect(added).toEqual(recordKinds.map((kind) => state.statement?.record[kind] ?? 0));
        if (!state.runs.every(({ ended }) => ended)) return;
        ends += 1;
        expect(spendOf(ledger.days(), 'market')).toEqual(wanted);
      },
    });
    expect(wanted.total.messages).toBe(1);
    expect([states > 1_000, ends > 0]).toEqual([true, true]);
  },
  120_000,
);

import { beforeAll, expect, test } from 'vitest';
import type { DispatchKey } from '../../lib/messages/dispatch/claim.ts';
import type { Claims, Doubts } from '../../lib/messages/dispatch/dispatch-ports.ts';
import { dispatchStore } from '../../lib/messages/dispatch/dispatch-store.ts';
import { handSettling } from '../../lib/messages/outcomes/outcomes-store.ts';
import { doubtStore } from '../../lib/messages/receipts/doubt-store.ts';
import type { Receipt } from '../../lib/messages/receipts/receipt.ts';
import { receiptStore } from '../../lib/messages/receipts/receipt-store.ts';
import { seededRandom } from '../support/faults.ts';
import { freshTable, localDocumentClient } from '../support/stores.ts';
import { thorough } from '../support/thorough.ts';
import type { Action } from './actions.ts';
import { apply } from './apply.ts';
import { explore } from './explorer.ts';
import * as harm from './harm-scenarios.ts';
import type { Scenario } from './scenario.ts';
import { scenarioJobId, startMs } from './scenario-job.ts';
import { receiptScenarios, scenarios } from './scenarios.ts';
import { initialState, type State } from './states.ts';
import { type Op, type OpName, type Reply, SteppedRun } from './stepped-run.ts';

const pathsPerScenario = thorough ? 25 : 5;
let claims: Claims;
/** Every call of a store that a policy makes, by its name in the exploration. */
let calls: Readonly<Partial<Record<OpName, Call>>>;

type Call = (...args: never[]) => Promise<unknown>;

beforeAll(async () => {
  const client = localDocumentClient();
  const table = await freshTable('messages');
  claims = dispatchStore({ client, table, nowMs: () => startMs });
  const { append, doubtfulJobs, findClaims, findBatchRecords, settleSeen, ofGroup } = receiptStore({
    client,
    table,
    pause: async () => undefined,
  });
  const { hasReceipt } = doubtStore(client, table);
  calls = {
    ...claims,
    // A run of the dispatch has an instance of its own, or the marks of one schedule would be known to the next.
    mark: (...args: Parameters<Doubts['mark']>) => doubtStore(client, table).mark(...args),
    hasReceipt,
    append,
    settleSeen,
    settleByHand: handSettling(client, table),
    ofGroup,
    doubtfulJobs: async (jobIds: string[]) => [...(await doubtfulJobs(jobIds))],
    findClaims: async (keys: DispatchKey[]) => [...(await findClaims(keys))],
    findBatchRecords: async (invocations: string[]) => [...(await findBatchRecords(invocations))],
  };
});

/** Runs a schedule of the exploration again, the store being DynamoDB; every reply must be the model's. */
async function replayOnDynamoDb(scenario: Scenario, path: readonly Action[], jobId: string): Promise<State> {
  const inThisJob = <T>(value: T): T =>
    value === undefined
      ? value
      : JSON.parse(
          JSON.stringify(value)
            .replaceAll(`"${scenarioJobId}"`, `"${jobId}"`)
            .replaceAll('"run-', `"${jobId}-run-`)
            .replaceAll(`"${scenarioJobId}-`, `"${jobId}-`),
        );
  const running = new Map<number, SteppedRun>();
  let state = initialState(scenario);
  for (const action of path) {
    const before = state;
    state = await apply(state, action, scenario);
    if (action.do === 'land') {
      const landing = before.inFlight[action.at];
      if (landing === undefined) throw new Error('no such write is on its way');
      if (landing.op.name in calls) await onDynamoDb(inThisJob(landing.op), 'ok');
    }
    if (action.do === 'deliver' || action.do === 'resolve') {
      const worker = state.workers[action.worker];
      if (!worker) throw new Error('nobody took the delivery');
      const bodies = worker.bodies.map((body) => JSON.stringify(inThisJob(JSON.parse(body))));
      running.set(action.worker, await SteppedRun.replay({ ...inThisJob({ ...worker, bodies: [] }), bodies }));
    }
    if (action.do === 'acknowledge') {
      expect(running.get(action.worker)?.ended).toEqual(before.workers[action.worker]?.ended);
    }
    if (action.do === 'step') {
      const run = running.get(action.worker);
      const op = run?.pending.get(action.op);
      if (run === undefined || op === undefined) throw new Error('the run is not where the schedule says');
      const modelled = state.workers[action.worker]?.answered.at(-1);
      if (modelled === undefined) throw new Error('the run of the model is gone');
      const reply = op.name in calls ? await onDynamoDb(op, action.effect) : modelled.reply;
      expect(reply).toEqual(inThisJob(modelled.reply));
      await run.answer({ op: op.id, reply, nowMs: modelled.nowMs });
    }
  }
  return state;
}

async function onDynamoDb(op: Op, effect: string): Promise<Reply> {
  const unavailable = { error: 'unavailable' } as const;
  if (effect === 'fails' || effect === 'lands_late') return unavailable;
  const call = calls[op.name] as (...args: readonly unknown[]) => Promise<unknown>;
  if (effect === 'repeated') await call(...op.args);
  const value = await call(...op.args);
  return effect === 'reply_lost' ? unavailable : { value };
}

/** Of one run of a kind at a time: what runs do to each other, the exploration shows. */
const withReceipts = receiptScenarios.filter(
  ({ batchSize, receipts }) => batchSize === 1 && receipts?.runs === 1 && receipts.dispatchRuns === 1,
);

/** Harm that brings other writes, or the same in another order: of these, ends at which it has come to that. */
const harmful = [
  { name: 'writes that land late', ...harm.lateWrites },
  { name: 'writes that land late, and receipts', ...harm.lateWritesAndReceipts },
  { name: 'an operator', ...harm.byHand },
];

const isHarmful = ({ name, do: kind }: { readonly name?: string; readonly do: string }) =>
  kind === 'land' || name === 'settleByHand';

const withOneFault = [...scenarios, ...withReceipts].map((each) => ({ ...each, faults: Math.min(each.faults, 1) }));

test.each([...withOneFault, ...harmful])(
  'schedules on DynamoDB end as in the model: $name (R13)',
  { timeout: 300_000 },
  async (scenario) => {
    const all = await explore(scenario, () => undefined);
    const telling = all.ends.filter(({ path }) => path.some(isHarmful));
    const ends = telling.length > 0 ? telling : all.ends;
    const random = seededRandom(20_261_121);
    const paths = telling.length > 0 ? 4 * pathsPerScenario : pathsPerScenario;
    for (let sample = 0; sample < paths; sample += 1) {
      const end = ends[Math.floor(random() * ends.length)];
      if (end === undefined) throw new Error('the exploration had no end');
      const jobId = `${scenario.name.replaceAll(/\W/g, '')}${sample}`;
      const state = await replayOnDynamoDb(scenario, end.path, jobId);
      for (const [id, claim] of Object.entries(state.store.claims)) {
        const key = { jobId, index: claim.key.index };
        const stored = await claims.take({ ...claim, key, at: 'reader/0' });
        expect(stored, id).toMatchObject({ state: claim.state, claimedAtMs: claim.claimedAtMs });
      }
      const stored = (await calls.ofGroup?.(...([jobId, 0] as never[]))) as Receipt[];
      const appended = Object.values(state.store.receipts).flat();
      expect(new Set(stored)).toEqual(new Set(appended.map((receipt) => ({ ...receipt, jobId }))));
    }
  },
);

import { beforeAll, expect, test } from 'vitest';
import type { Claims } from '../../lib/messages/dispatch/dispatch-ports.ts';
import { dispatchStore } from '../../lib/messages/dispatch/dispatch-store.ts';
import { seededRandom } from '../support/faults.ts';
import { freshTable, localDocumentClient } from '../support/stores.ts';
import { type Action, apply, explore, initialState, type Scenario, type State } from './explorer.ts';
import { scenarioJobId, startMs } from './scenario-job.ts';
import { scenarios } from './scenarios.ts';
import { type Op, type Reply, SteppedRun } from './stepped-run.ts';

const pathsPerScenario = 25;
let claims: Claims;

beforeAll(async () => {
  const table = await freshTable('messages');
  claims = dispatchStore({ client: localDocumentClient(), table, nowMs: () => startMs });
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
    if (action.do === 'deliver') {
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
      const modelReply = state.workers[action.worker]?.answered.at(-1)?.reply;
      const reply = op.name in claims ? await onDynamoDb(op, action.effect) : modelReply;
      expect(reply).toEqual(inThisJob(modelReply));
      if (reply !== undefined) await run.answer({ op: op.id, reply, nowMs: state.nowMs });
    }
  }
  return state;
}

async function onDynamoDb(op: Op, effect: string): Promise<Reply> {
  const unavailable = { error: 'unavailable' } as const;
  if (effect === 'fails') return unavailable;
  const call = claims[op.name as keyof Claims] as (...args: readonly unknown[]) => Promise<unknown>;
  if (effect === 'repeated') await call(...op.args);
  const value = await call(...op.args);
  return effect === 'reply_lost' ? unavailable : { value };
}

test.each(scenarios)(
  'schedules on DynamoDB end as in the model: $name (R13)',
  { timeout: 120_000 },
  async (scenario) => {
    const { ends } = await explore({ ...scenario, faults: Math.min(scenario.faults, 1) }, () => undefined);
    const random = seededRandom(20_261_121);
    for (let sample = 0; sample < pathsPerScenario; sample += 1) {
      const end = ends[Math.floor(random() * ends.length)];
      if (end === undefined) throw new Error('the exploration had no end');
      const jobId = `${scenario.name.replaceAll(/\W/g, '')}${sample}`;
      const state = await replayOnDynamoDb(scenario, end.path, jobId);
      for (const [id, claim] of Object.entries(state.store.claims)) {
        const key = { jobId, index: claim.key.index };
        const stored = await claims.take({ ...claim, key, at: 'reader/0' });
        expect(stored, id).toMatchObject({ state: claim.state, claimedAtMs: claim.claimedAtMs });
      }
    }
  },
);

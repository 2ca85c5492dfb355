import { expect, test } from 'vitest';
import { sliceSize } from '../../lib/messages/dispatch/claims/slice.ts';
import { seededRandom } from '../support/faults.ts';
import { thorough } from '../support/thorough.ts';
import { checkWorld } from './kept-promises.ts';
import type { Fate } from './platform-model.ts';
import { accept, quietWorld } from './quiet-world.ts';
import { type PipelineWorld, startMs } from './world.ts';
import type { WorldRules } from './world-parts.ts';

/* A campaign in the middle of which its account, its number or its template is in trouble for five minutes (D46). */

const total = 10_000;
const campaign = { clientId: 1_001, wabaId: '200000000000001', phoneNumberId: '300000000000001' };
const stranger = { clientId: 1_002, wabaId: '200000000000002', phoneNumberId: '300000000000002' };
const trouble = { fromMs: startMs + 40_000, untilMs: startMs + 340_000 };

interface Trouble {
  readonly what: string;
  readonly fate: Fate;
  /** Taken first, and refused by receipt after one to five seconds. */
  readonly byReceipt?: true;
  readonly told: { readonly code: string; readonly scope: string };
  /** Calls until it is found out, and those of the slices that are claimed then: 72 a second. */
  readonly mostHarmed: number;
  /** What becomes of them. */
  readonly harmed: 'sent' | 'unknown';
}

const troubles: readonly Trouble[] = [
  {
    ...{ what: 'its account cannot pay', fate: 'cannot_pay', told: { code: '131042', scope: 'waba' } },
    ...{ mostHarmed: 30, harmed: 'sent' },
  },
  {
    ...{ what: 'its account cannot pay, as receipts tell', fate: 'taken', byReceipt: true },
    ...{ told: { code: '131042', scope: 'waba' }, mostHarmed: 150, harmed: 'sent' },
  },
  {
    ...{ what: 'its number falls silent', fate: 'lost', told: { code: 'no_answer', scope: 'number' } },
    // The time-out of ten seconds, the read after it, and two slices.
    ...{ mostHarmed: 900, harmed: 'unknown' },
  },
  {
    ...{ what: 'its number answers HTTP 500', fate: 'server_trouble', told: { code: '131000', scope: 'number' } },
    // Three runs.
    ...{ mostHarmed: 150, harmed: 'unknown' },
  },
  {
    ...{ what: 'its template is paused', fate: 'template_paused', mostHarmed: 30, harmed: 'sent' },
    told: { code: 'template_paused', scope: 'template' },
  },
];

interface Lines {
  /** When holds were opened. */
  readonly heldMs: number[];
}

function campaignWorld(seed: number, of?: Trouble): { readonly world: PipelineWorld; readonly lines: Lines } {
  const random = seededRandom(seed);
  const lines: Lines = { heldMs: [] };
  const isMet = (phoneNumberId: string) =>
    phoneNumberId === campaign.phoneNumberId &&
    world.time.nowMs >= trouble.fromMs &&
    world.time.nowMs < trouble.untilMs;
  const rules: Partial<WorldRules> = {
    random,
    answerMs: () => 60 + random() * 60,
    latencyMs: () => 2 + random() * 2,
    fateOf: ({ phoneNumberId }) => (of !== undefined && isMet(phoneNumberId) ? of.fate : 'taken'),
    readFateOf: () => 'taken',
    receiptsOf: ({ phoneNumberId }) =>
      of?.byReceipt && isMet(phoneNumberId)
        ? [{ status: 'failed', code: of.told.code, afterMs: 1_000 + random() * 4_000 }]
        : [{ status: 'delivered', afterMs: 500 + random() * 3_000 }],
    templateStatus: () => (world.time.nowMs < trouble.untilMs ? 'PAUSED' : 'APPROVED'),
    log: (_, event) => {
      if (event === 'hold.opened') lines.heldMs.push(world.time.nowMs);
    },
  };
  const world = quietWorld(rules);
  return { world, lines };
}

function postsOf(world: PipelineWorld, jobId: string) {
  return world.platform.posts.filter(({ dispatchId }) => dispatchId.startsWith(`${jobId}-`));
}

/** Of 3,000 recipients of another client, on a number of another WABA, accepted when the trouble begins: when the last one left. */
async function acceptStranger(world: PipelineWorld): Promise<string> {
  await world.time.sleep(trouble.fromMs - startMs);
  return accept(world, 3_000, stranger);
}

const calm = new Map<number, Promise<number>>();

/** The same where nothing goes wrong. */
async function strangerInCalm(seed: number): Promise<number> {
  const { world } = campaignWorld(seed);
  accept(world, total, campaign);
  const accepting = acceptStranger(world);
  await world.run(100_000);
  const posts = postsOf(world, await accepting);
  expect(posts).toHaveLength(3_000);
  return posts.at(-1)?.atMs ?? Number.NaN;
}

const cases = troubles.flatMap((of) => (thorough ? [1, 2, 3, 4, 5, 6] : [1, 2]).map((seed) => ({ ...of, seed })));

test.each(cases)(
  'a campaign of 10,000, and $what for five minutes: few are harmed, all others wait and are sent (world $seed)',
  async ({ seed, ...of }) => {
    const { world, lines } = campaignWorld(seed, of);
    const jobId = accept(world, total, campaign);
    const accepting = acceptStranger(world);
    let whileHeld = { write: 0, grouped: 0 };
    const look = async () => {
      await world.time.sleep(trouble.fromMs + 60_000 - startMs);
      const { write, grouped } = world.meter.requests;
      await world.time.sleep(235_000);
      const { write: writes, grouped: queued } = world.meter.requests;
      whileHeld = { write: writes - write, grouped: queued - grouped };
      // What waits says why, and for whom.
      expect(world.table.states.get(jobId)?.parked).toMatchObject(of.told);
    };
    const looking = look();
    await world.run(2 * 3_600_000);
    await looking;

    // The operator is told once, and the client is.
    // Runs of one millisecond take the same hold for theirs: better told twice than not at all.
    expect(new Set(lines.heldMs).size).toBe(1);
    const pauses = [...world.told.values()].filter(({ type }) => /^dispatch\.(parked|resumed)$/.test(type));
    expect(pauses).toMatchObject(
      ['dispatch.parked', 'dispatch.resumed'].map((type) => ({ type, data: { job_id: jobId, ...of.told } })),
    );

    // Until it is found out, and what was claimed then; afterwards one question at a time, ever more rarely.
    const posts = postsOf(world, jobId);
    const during = posts.filter(({ atMs }) => atMs >= trouble.fromMs && atMs < trouble.untilMs);
    const inHandsUntilMs = (lines.heldMs[0] ?? 0) + 1_000;
    // A call that was under way when the trouble began is taken.
    const met = during.filter((post) => of.byReceipt || !post.taken);
    const harmed = met.filter(({ atMs }) => atMs <= inHandsUntilMs).length;
    expect(harmed).toBeGreaterThan(0);
    expect(harmed).toBeLessThanOrEqual(of.mostHarmed);
    const questionsMs = met.map(({ atMs }) => atMs).filter((atMs) => atMs > inHandsUntilMs);
    expect(questionsMs.length).toBeGreaterThanOrEqual(3);
    const gapsMs = questionsMs.map((atMs, at) => atMs - (questionsMs[at - 1] ?? lines.heldMs[0] ?? 0));
    for (const [at, gapMs] of gapsMs.entries()) expect(gapMs).toBeGreaterThan(1.5 * (gapsMs[at - 1] ?? 6_000));
    // What waits is no work: some thirty chunks that look again ever more rarely, and a write or two for each question.
    expect(whileHeld.write).toBeLessThanOrEqual(50);
    expect(whileHeld.grouped).toBeLessThanOrEqual(500);

    // Nothing twice, nothing lost, and all but the harmed with the platform some minutes after the repair.
    if (!of.byReceipt) checkWorld(world);
    const taken = posts.filter((post) => post.taken).map(({ dispatchId }) => dispatchId);
    expect(new Set(taken).size).toBe(taken.length);
    const states = outcomesOf(world, jobId);
    const unknown = of.harmed === 'unknown' ? met.length : 0;
    expect(states).toEqual({ sent: total - unknown, ...(unknown > 0 ? { unknown } : {}) });
    expect(taken).toHaveLength(total - unknown);
    expect(world.deadLetters).toBe(0);
    expect((posts.at(-1)?.atMs ?? 0) - trouble.untilMs).toBeLessThan(480_000);

    // A client with another number of another WABA notices nothing.
    const inCalm = calm.get(seed) ?? strangerInCalm(seed);
    calm.set(seed, inCalm);
    const strangers = postsOf(world, await accepting);
    expect(strangers.filter((post) => post.taken)).toHaveLength(3_000);
    expect((strangers.at(-1)?.atMs ?? 0) - trouble.fromMs).toBeLessThan(1.1 * ((await inCalm) - trouble.fromMs));
  },
  120_000,
);

/** How many recipients of a job ended so. */
function outcomesOf(world: PipelineWorld, jobId: string): Record<string, number> {
  const states: Record<string, number> = {};
  for (let slice = 0; slice * sliceSize < total; slice += 1) {
    const { outcomes = [] } = world.table.find({ jobId, slice }) ?? {};
    for (let place = 0; place < sliceSize; place += 1) {
      const { state = 'none' } = outcomes[place] ?? {};
      states[state] = (states[state] ?? 0) + 1;
    }
  }
  return states;
}

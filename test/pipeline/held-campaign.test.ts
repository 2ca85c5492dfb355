import { expect, test } from 'vitest';
import { sliceSize } from '../../lib/messages/dispatch/slice.ts';
import { seededRandom } from '../support/faults.ts';
import { thorough } from '../support/thorough.ts';
import { checkWorld } from './kept-promises.ts';
import type { Fate } from './platform-model.ts';
import { accept, quietWorld } from './quiet-world.ts';
import { type PipelineWorld, startMs } from './world.ts';
import type { WorldRules } from './world-parts.ts';

/* The account, the number or the template of a campaign fails for five minutes (D46). */

const total = 10_000;
const campaign = { clientId: 1_001, wabaId: '200000000000001', phoneNumberId: '300000000000001' };
const stranger = { clientId: 1_002, wabaId: '200000000000002', phoneNumberId: '300000000000002' };
const trouble = { fromMs: startMs + 40_000, untilMs: startMs + 340_000 };

interface Trouble {
  readonly what: string;
  readonly fate: Fate;
  /** The platform takes the message first, and refuses it by receipt after one to five seconds. */
  readonly byReceipt?: true;
  readonly told: { readonly code: string; readonly scope: string };
  /** The limit counts calls until a sender detects the failure, and those of the slices claimed by then: 72 a second. */
  readonly mostHarmed: number;
  readonly harmed: 'sent' | 'unknown';
  /** No message asks whether a review is over: the template is read (D46). */
  readonly asks?: false;
}

const troubles: readonly Trouble[] = [
  {
    ...{ what: 'its account cannot pay', fate: 'cannot_pay', told: { code: '131042', scope: 'waba' } },
    ...{ mostHarmed: 30, harmed: 'sent' },
  },
  {
    ...{ what: 'its account cannot pay, as receipts tell', fate: 'taken', byReceipt: true },
    ...{ told: { code: '131042', scope: 'waba' }, mostHarmed: 180, harmed: 'sent' },
  },
  {
    ...{ what: 'its number falls silent', fate: 'lost', told: { code: 'no_answer', scope: 'number' } },
    // Detection takes the time-out of ten seconds and the read after it; two slices are claimed by then.
    ...{ mostHarmed: 900, harmed: 'unknown' },
  },
  {
    ...{ what: 'its number answers HTTP 500', fate: 'server_trouble', told: { code: '131000', scope: 'number' } },
    // Detection takes three runs.
    ...{ mostHarmed: 150, harmed: 'unknown' },
  },
  {
    ...{ what: 'its template is paused', fate: 'template_paused', mostHarmed: 30, harmed: 'sent' },
    told: { code: 'template_paused', scope: 'template' },
  },
  {
    ...{ what: 'its template is in review', fate: 'template_in_review', mostHarmed: 30, harmed: 'sent' },
    ...{ told: { code: 'template_in_review', scope: 'template' }, asks: false },
  },
];

interface Lines {
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
    templateStatus: () => {
      if (world.time.nowMs >= trouble.untilMs) return 'APPROVED';
      return of?.fate === 'template_in_review' ? 'PENDING' : 'PAUSED';
    },
    log: (_, event) => {
      if (event === 'hold.opened') lines.heldMs.push(world.time.nowMs);
    },
  };
  const world = quietWorld(rules);
  return { world, lines };
}

function postsOf(world: PipelineWorld, dispatchId: string) {
  return world.platform.posts.filter(({ messageId }) => messageId.startsWith(`${dispatchId}-`));
}

/** Sends to 3,000 recipients of another client from another WABA when the failure begins. */
async function acceptStranger(world: PipelineWorld): Promise<string> {
  await world.time.sleep(trouble.fromMs - startMs);
  return accept(world, 3_000, stranger);
}

const calm = new Map<number, Promise<number>>();

/** Returns when the last message of the other client leaves in a world without faults. */
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
    const dispatchId = accept(world, total, campaign);
    const accepting = acceptStranger(world);
    let whileHeld = { write: 0, queue: 0 };
    const look = async () => {
      await world.time.sleep(trouble.fromMs + 60_000 - startMs);
      const { write, queue } = world.meter.requests;
      await world.time.sleep(235_000);
      const { write: writes, queue: queued } = world.meter.requests;
      whileHeld = { write: writes - write, queue: queued - queue };
      // A parked dispatch says why, and what is held.
      expect(world.table.states.get(dispatchId)?.parked).toMatchObject(of.told);
    };
    const looking = look();
    await world.run(2 * 3_600_000);
    await looking;

    // The client gets one event, and the log one moment. Runs of the same millisecond may each log the hold: two lines
    // are better than none.
    expect(new Set(lines.heldMs).size).toBe(1);
    const pauses = [...world.told.values()].filter(({ type }) => /^dispatch\.(parked|resumed)$/.test(type));
    expect(pauses).toMatchObject(
      ['dispatch.parked', 'dispatch.resumed'].map((type) => ({ type, data: { dispatch_id: dispatchId, ...of.told } })),
    );

    // After detection, one probe at a time asks the platform, with backoff.
    const posts = postsOf(world, dispatchId);
    const during = posts.filter(({ atMs }) => atMs >= trouble.fromMs && atMs < trouble.untilMs);
    const inHandsUntilMs = (lines.heldMs[0] ?? 0) + 1_000;
    // A call that was under way when the failure began succeeds.
    const met = during.filter((post) => of.byReceipt || !post.taken);
    const harmed = met.filter(({ atMs }) => atMs <= inHandsUntilMs).length;
    expect(harmed).toBeGreaterThan(0);
    expect(harmed).toBeLessThanOrEqual(of.mostHarmed);
    const questionsMs = met.map(({ atMs }) => atMs).filter((atMs) => atMs > inHandsUntilMs);
    if (of.asks === false) expect(questionsMs).toEqual([]);
    else expect(questionsMs.length).toBeGreaterThanOrEqual(3);
    const gapsMs = questionsMs.map((atMs, at) => atMs - (questionsMs[at - 1] ?? lines.heldMs[0] ?? 0));
    for (const [at, gapMs] of gapsMs.entries()) expect(gapMs).toBeGreaterThan(1.5 * (gapsMs[at - 1] ?? 6_000));
    // Parked work costs little: wakes of the sweeper and of runs, and each probe takes a write or two.
    expect(whileHeld.write).toBeLessThanOrEqual(150);
    expect(whileHeld.queue).toBeLessThanOrEqual(200);

    // No message is lost or sent twice, and all but the harmed reach the platform some minutes after the repair.
    if (!of.byReceipt) checkWorld(world);
    const taken = posts.filter((post) => post.taken).map(({ messageId }) => messageId);
    expect(new Set(taken).size).toBe(taken.length);
    const states = outcomesOf(world, dispatchId);
    const unknown = of.harmed === 'unknown' ? met.length : 0;
    expect(states).toEqual({ sent: total - unknown, ...(unknown > 0 ? { unknown } : {}) });
    expect(taken).toHaveLength(total - unknown);
    expect(world.deadLetters).toBe(0);
    expect((posts.at(-1)?.atMs ?? 0) - trouble.untilMs).toBeLessThan(480_000);

    // A client with a number of another WABA is not delayed.
    const inCalm = calm.get(seed) ?? strangerInCalm(seed);
    calm.set(seed, inCalm);
    const strangers = postsOf(world, await accepting);
    expect(strangers.filter((post) => post.taken)).toHaveLength(3_000);
    expect((strangers.at(-1)?.atMs ?? 0) - trouble.fromMs).toBeLessThan(1.1 * ((await inCalm) - trouble.fromMs));
  },
  120_000,
);

function outcomesOf(world: PipelineWorld, dispatchId: string): Record<string, number> {
  const states: Record<string, number> = {};
  for (let slice = 0; slice * sliceSize < total; slice += 1) {
    const { outcomes = [] } = world.table.find({ dispatchId, slice }) ?? {};
    for (let place = 0; place < sliceSize; place += 1) {
      const { state = 'none' } = outcomes[place] ?? {};
      states[state] = (states[state] ?? 0) + 1;
    }
  }
  return states;
}

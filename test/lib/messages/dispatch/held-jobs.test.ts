import { describe, expect, test } from 'vitest';
import { present } from '../../../../lib/keys/present.ts';
import type { DispatchPorts } from '../../../../lib/messages/dispatch/breaker.ts';
import { claimLifeMs } from '../../../../lib/messages/dispatch/claim.ts';
import { dispatchBatch } from '../../../../lib/messages/dispatch/dispatch.ts';
import { jobHolds } from '../../../../lib/messages/job-holds.ts';
import { cancelled, type JobState, type JobStates } from '../../../../lib/messages/job-state.ts';
import { PlatformFailure } from '../../../../lib/platform/failure.ts';
import { dispatchMessage } from '../../../support/scenario-job.ts';
import { DispatchWorld } from '../../../support/dispatch-ports.ts';
import { idlePaces } from '../../../support/idle-paces.ts';

/* What holds back the messages of a job: its state, and the refusals that make it (D46, D53). */

const sinceMs = 1_800_000_000_000;
const parked = { code: 'template_paused', sinceMs } as const;

class HeldWorld extends DispatchWorld {
  state: JobState = {};
  readonly watched: number[] = [];
  code: number | undefined;
  /** What the refusal says to people. */
  text: string | undefined;
  calls = 0;
  reservations = 0;
  reads = 0;
  readonly pausesEnded: string[] = [];
  readonly states: Pick<JobStates, 'of' | 'park' | 'stop' | 'endPause'> = {
    of: async (jobIds) => {
      this.reads += 1;
      return new Map(jobIds.map((jobId) => [jobId, this.state]));
    },
    park: async (_, found) => {
      this.state = { ...this.state, parked: found };
      return true;
    },
    stop: async (_, stop) => {
      this.state = { stop };
      return true;
    },
    endPause: async (jobId) => void this.pausesEnded.push(jobId),
  };

  async run(count: number, changes: Partial<DispatchPorts> = {}, message: object = {}): Promise<string[]> {
    const deliveries = Array.from({ length: count }, (_, index) => ({
      messageId: `m${index}`,
      receiptHandle: `r${index}`,
      body: JSON.stringify(dispatchMessage(index, message)),
    }));
    const holds = {
      states: this.states,
      watchParked: async (_: unknown, since: number) => void this.watched.push(since),
    };
    const paces = {
      ...idlePaces.paces,
      find: async (phoneNumberId: string) => {
        this.reservations += 1;
        return await idlePaces.paces.find(phoneNumberId);
      },
    };
    const ports = this.ports({
      paces,
      jobStates: this.states,
      newHolds: () => jobHolds({ ...holds, nowMs: () => this.nowMs, log: () => undefined }),
      send: async (sent) => {
        this.calls += 1;
        const { code, text: userMessage } = this;
        if (code !== undefined)
          throw new PlatformFailure('refused', { httpStatus: 400, code, ...present({ userMessage }) });
        return { platformMessageId: `platform-${sent.index}` };
      },
      ...changes,
    });
    return await dispatchBatch(deliveries, ports);
  }

  statesOfClaims(): string[] {
    return Object.values(this.store.claims).map((claim) => `${claim.state} ${claim.code ?? ''}`.trim());
  }
}

describe('132015', () => {
  test('parks the job: those that were refused wait, and of the next batch nothing is called', async () => {
    const world = new HeldWorld();
    world.code = 132015;
    expect(await world.run(10)).toEqual([]);
    expect([world.calls, world.watched.length, world.statesOfClaims()]).toEqual([10, 1, []]);
    expect(world.copies.map(({ delaySeconds }) => delaySeconds)).toEqual(Array(10).fill(15));
    expect(world.copies[0]?.message).toMatchObject({ index: 0, attempt: 0, hasWaited: true });
    expect(world.tallied()).toEqual([{ retry_parked: 10 }]);
    expect(await world.run(10)).toEqual([]);
    expect([world.calls, world.copies.length, world.statesOfClaims()]).toEqual([10, 20, []]);
  });

  test('a copy that comes while the job is parked takes no slot and no claim; when it goes on it is sent', async () => {
    const world = new HeldWorld();
    world.state = { parked };
    world.nowMs = sinceMs + 100_000;
    const before = world.reservations;
    expect(await world.run(10, {}, { hasWaited: true })).toEqual([]);
    expect([world.reservations - before, world.storeCalls, world.calls]).toEqual([0, [], 0]);
    expect(world.copies.map(({ delaySeconds }) => delaySeconds)).toEqual(Array(10).fill(25));
    world.state = {};
    expect(await world.run(10, {}, { hasWaited: true })).toEqual([]);
    expect([world.calls, world.copies.length]).toEqual([10, 10]);
  });

  test('the first messages that are taken after a pause end it, one write a batch; without a pause nobody writes', async () => {
    const world = new HeldWorld();
    await world.run(10);
    expect(world.pausesEnded).toEqual([]);
    world.state = { pausedFromMs: sinceMs };
    await world.run(10, {}, { jobId: 'K' });
    expect(world.pausesEnded).toEqual(['K']);
    world.code = 131026;
    await world.run(10, {}, { jobId: 'L' });
    expect(world.pausesEnded).toEqual(['K']);
  });

  test('where states cannot be read beforehand, the read after the claim decides', async () => {
    const world = new HeldWorld();
    world.state = { parked };
    let reads = 0;
    const of: JobStates['of'] = async (jobIds) => {
      reads += 1;
      if (reads === 1) throw new Error('unavailable');
      return await world.states.of(jobIds);
    };
    expect(await world.run(3, { jobStates: { of } }, { hasWaited: true })).toEqual([]);
    expect([reads, world.calls, world.copies.length, world.statesOfClaims()]).toEqual([2, 0, 3, []]);
  });

  test('a message ends when its waiting does', async () => {
    const world = new HeldWorld();
    world.state = { parked };
    world.nowMs = sinceMs + 24 * 3_600_000;
    await world.run(1, {}, { hasWaited: true, acceptedAtMs: sinceMs });
    expect([world.calls, world.statesOfClaims()]).toEqual([0, ['expired template_paused']]);
    expect(world.events.sent.map(({ type }) => type)).toContain('message.expired');
  });
});

test('132016 stops the job: what is left fails without a call, each told why', async () => {
  const world = new HeldWorld();
  world.code = 132016;
  world.text = 'for its quality';
  await world.run(2);
  expect([world.calls, world.statesOfClaims()]).toEqual([2, ['failed 132016', 'failed 132016']]);
  const rest = new HeldWorld();
  rest.state = world.state;
  await rest.run(5);
  expect([rest.calls, rest.statesOfClaims()]).toEqual([0, Array(5).fill('failed 132016')]);
  expect(rest.events.sent).toMatchObject(
    Array(5).fill({ type: 'message.failed', data: { code: '132016', reason: world.text } }),
  );
});

test.each([132015, 132016])(
  'an answer that says %i and leaves open whether it sent holds nothing back',
  async (code) => {
    const world = new HeldWorld();
    const send = async () => {
      world.calls += 1;
      throw new PlatformFailure('ambiguous', { httpStatus: 500, code });
    };
    expect(await world.run(1, { send })).toEqual([]);
    expect([world.calls, world.state, world.copies, world.statesOfClaims()]).toEqual([1, {}, [], [`unknown ${code}`]]);
  },
);

test('what a receipt proves taken does not wait for its template, whatever the platform refused (D39)', async () => {
  const world = new HeldWorld();
  world.code = 132015;
  const receipt = { jobId: 'J', index: 0, status: 'delivered', atMs: 1, platformMessageId: 'w' };
  world.store = { ...world.store, receipts: { 'J-0': [receipt] } };
  expect(await world.run(2)).toEqual([]);
  expect(world.statesOfClaims()).toEqual(['sent receipt']);
  expect(world.copies.map(({ message }) => message.index)).toEqual([1]);
});

test('of a cancelled job nothing is called, also of what has waited (D53)', async () => {
  for (const hasWaited of [{}, { hasWaited: true }]) {
    const world = new HeldWorld();
    world.state = { stop: cancelled(1) };
    await world.run(4, {}, hasWaited);
    expect([world.calls, world.statesOfClaims()]).toEqual([0, Array(4).fill('failed cancelled')]);
    expect(world.events.sent.filter(({ type }) => type === 'message.failed')).toHaveLength(4);
  }
});

test('what has waited, and what is too late, is claimed as its job was stopped, in one write (D53)', async () => {
  for (const message of [{ hasWaited: true }, { expiresAtMs: 1 }]) {
    const world = new HeldWorld();
    world.state = { stop: cancelled(1) };
    await world.run(3, {}, message);
    expect([world.storeCalls, world.statesOfClaims()]).toEqual([
      Array(3).fill('take'),
      Array(3).fill('failed cancelled'),
    ]);
  }
});

test('what was found too late ends so, also when the clock is put back before it is claimed (D27)', async () => {
  const world = new HeldWorld();
  const of: JobStates['of'] = async () => {
    world.nowMs -= 1_000;
    return new Map();
  };
  expect(await world.run(1, { jobStates: { of } }, { expiresAtMs: world.nowMs })).toEqual([]);
  expect([world.calls, world.statesOfClaims()]).toEqual([0, ['expired expired']]);
});

test('how a stopped job stands is read once for all that has waited', async () => {
  const world = new HeldWorld();
  world.state = { stop: cancelled(1) };
  await world.run(3, {}, { hasWaited: true });
  expect(world.reads).toBe(1);
});

test('a claim of a worker that died ends as the job was stopped, when nothing else was pending before it (D53)', async () => {
  const lostAfter = async (endedAtMs?: number) => {
    const world = new HeldWorld();
    const claim = { key: { jobId: 'J', index: 0 }, at: 'dead/0', state: 'claimed', claimedAtMs: world.nowMs } as const;
    world.store = { ...world.store, claims: { 'J-0': claim } };
    world.state = { stop: cancelled(1), ...(endedAtMs === undefined ? {} : { endedAtMs: world.nowMs + endedAtMs }) };
    world.nowMs += claimLifeMs;
    await world.run(1);
    return world.statesOfClaims();
  };
  expect(await lostAfter()).toEqual(['unknown worker_lost']);
  expect(await lostAfter(10_000)).toEqual(['failed cancelled']);
  expect(await lostAfter(claimLifeMs)).toEqual(['unknown worker_lost']);
});

test('a refusal of one message is its own', async () => {
  const world = new HeldWorld();
  world.code = 131026;
  await world.run(1);
  expect([world.state, world.statesOfClaims()]).toEqual([{}, ['failed 131026']]);
});

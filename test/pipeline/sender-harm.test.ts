import { expect, test } from 'vitest';
import { makeDispatch, makeRecipients } from '../support/made-dispatches.ts';
import { accept, quietRules } from './quiet-world.ts';
import type { Run } from './runs.ts';
import { PipelineWorld, startMs, type WorldRules } from './world.ts';

/** In this world a dispatch may kill every process that reads it. */
class DeadlyWorld extends PipelineWorld {
  readonly #runs: Run[] = [];

  override newRun(): Run {
    const run = super.newRun();
    this.#runs.push(run);
    return run;
  }

  killRuns(): void {
    for (const run of this.#runs.splice(0)) run.die();
  }
}

function takenIn(world: PipelineWorld) {
  return world.platform.posts.filter(({ taken }) => taken);
}

function eventsOf(world: PipelineWorld, type: string) {
  return [...world.told.values()].filter((event) => event.type === type);
}

/** Accepts a dispatch whose recipients kill every process that reads them. */
function acceptDeadly(world: DeadlyWorld): string {
  const dispatchId = '01JP0000000000000000000000';
  // A send with a time is no small request.
  const when = { asked: {}, fromMs: startMs };
  const whole = makeDispatch(makeRecipients(10), { dispatchId, clientId: 9, acceptedAtMs: startMs, when });
  const { recipients } = whole;
  let isDeadly = false;
  Object.defineProperty(whole, 'recipients', {
    get: () => {
      if (isDeadly) world.killRuns();
      return recipients;
    },
  });
  world.accept(whole);
  isDeadly = true;
  return dispatchId;
}

test('a dispatch that kills processes hurts itself alone: after two deaths dispatches are taken by turn', async () => {
  const world = new DeadlyWorld(quietRules());
  const dispatchId = acceptDeadly(world);
  for (let at = 0; at < 5; at += 1) accept(world, 40, { clientId: at });
  await world.run(3_600_000);
  // Two deaths cost what was under way beside it.
  expect(eventsOf(world, 'message.unknown').length).toBeLessThan(100);
  expect(eventsOf(world, 'dispatch.completed')).toHaveLength(5);
  expect([...world.backlog.entries.keys()]).toEqual([dispatchId]);
  expect(world.backlog.entries.get(dispatchId)?.parts?.[0]?.failures).toBeGreaterThan(3);
});

test('a large dispatch that comes first has one turn alone, not all of them', async () => {
  const world = new DeadlyWorld(quietRules());
  const large = accept(world, 20_000, { clientId: 1 });
  let small = '';
  const others = async () => {
    await world.time.sleep(1_000);
    acceptDeadly(world);
    await world.time.sleep(1_000);
    small = accept(world, 40, { clientId: 2 });
  };
  void others();
  await world.run(1_800_000);
  const lastMs = (id: string) =>
    Math.max(...takenIn(world).map(({ messageId, atMs }) => (messageId.startsWith(`${id}-`) ? atMs : 0)));
  expect(lastMs(small)).toBeLessThan(startMs + 300_000);
  expect(lastMs(large)).toBeGreaterThan(lastMs(small));
});

test('a slow number makes no call that could outlast its process', async () => {
  const hangs = () => world.time.nowMs > startMs + 85_000 && world.time.nowMs < startMs + 130_000;
  const world: PipelineWorld = new PipelineWorld(
    quietRules({ limitPerSecond: 0.463, answerMs: () => (hangs() ? 9_500 : 100) }),
  );
  accept(world, 100);
  await world.run(1_800_000);
  expect(takenIn(world)).toHaveLength(100);
  expect(eventsOf(world, 'message.unknown')).toHaveLength(0);
  expect(world.killedRuns).toBe(0);
});

test('a process that is killed while the platform hangs loses what two seconds of the pace have claimed', async () => {
  const lives = [15_000];
  const lifeMs: WorldRules['lifeMs'] = (name) => (name === 'dispatch' ? lives.pop() : undefined);
  const world = new PipelineWorld(quietRules({ lifeMs, answerMs: () => 9_500 }));
  accept(world, 3_000);
  await world.run(1_800_000);
  const unknown = eventsOf(world, 'message.unknown').length;
  expect(unknown).toBeGreaterThan(100);
  expect(unknown).toBeLessThan(170);
});

test('calls that hang at the end of a run are recorded before the process ends', async () => {
  const hangs = () => world.time.nowMs > startMs + 85_000 && world.time.nowMs < startMs + 125_000;
  const world: PipelineWorld = new PipelineWorld(quietRules({ answerMs: () => (hangs() ? 9_500 : 100) }));
  accept(world, 8_000);
  await world.run(1_800_000);
  expect(takenIn(world)).toHaveLength(8_000);
  expect(eventsOf(world, 'message.unknown')).toHaveLength(0);
  expect(world.killedRuns).toBe(0);
});

test('a table that is silent for a minute stops the calls within two seconds of the pace, and loses none', async () => {
  const silentFromMs = startMs + 20_000;
  const isSilent = (name: string) =>
    !['send', 'wakeSenders', 'sendEvents'].includes(name) &&
    world.time.nowMs >= silentFromMs &&
    world.time.nowMs < silentFromMs + 60_000;
  const faultOf: WorldRules['faultOf'] = (name) => (isSilent(name) ? 'fails' : undefined);
  const world: PipelineWorld = new PipelineWorld(quietRules({ faultOf }));
  accept(world, 6_000);
  await world.run(1_800_000);
  const during = takenIn(world).filter(({ atMs }) => atMs > silentFromMs && atMs < silentFromMs + 60_000);
  expect(during.length).toBeLessThan(170);
  expect(takenIn(world)).toHaveLength(6_000);
  expect(eventsOf(world, 'message.unknown')).toHaveLength(0);
  expect(eventsOf(world, 'dispatch.completed')).toHaveLength(1);
});

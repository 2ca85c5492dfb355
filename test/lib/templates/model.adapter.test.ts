import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { clientCommands } from '../../support/model/client-commands.ts';
import { compareAll } from '../../support/model/compare.ts';
import { Model } from '../../support/model/model.ts';
import { startPlatform, startService, type TestPlatform } from '../../support/model/service.ts';
import { slots, texts } from '../../support/model/setting.ts';
import { synchronize, templateCommands } from '../../support/model/template-commands.ts';
import { appear, upstreamCommands } from '../../support/model/upstream-commands.ts';
import { thorough } from '../../support/thorough.ts';

/**
 * Runs any sequence of client calls and platform changes against a model of plain maps. MODEL_SEED=random (or a seed,
 * to repeat and shrink it) and MODEL_RUNS=<count> run more.
 */

const { MODEL_SEED: seed = '1', MODEL_RUNS: runs = thorough ? '10' : '2' } = process.env;
const exploring = process.env['MODEL_SEED'] !== undefined || process.env['MODEL_RUNS'] !== undefined;

let platform: TestPlatform;
beforeAll(async () => {
  platform = await startPlatform();
});
afterAll(() => platform.stop());

const commands = [
  ...Array(3).fill(templateCommands.create),
  ...Array(2).fill(templateCommands.edit),
  templateCommands.remove,
  ...Array(3).fill(templateCommands.synchronize),
  ...Array(5).fill(clientCommands.assign),
  ...Array(2).fill(clientCommands.assignAtOnce),
  ...Array(3).fill(clientCommands.setStatus),
  ...Array(2).fill(clientCommands.list),
  ...Array(3).fill(upstreamCommands.happen),
  upstreamCommands.letPass,
];

test(
  'after any sequence the listing of every client equals the model (R29, R30)',
  async () => {
    let ended = 0;
    await fc.assert(
      fc.asyncProperty(fc.commands(commands, { maxCommands: 80, size: 'max' }), async (sequence) => {
        const service = await startService(platform);
        const model = new Model(platform.clock.nowMs);
        for (const slot of [slots[0], slots[3]]) await appear(model, service, slot, texts[0]);
        await synchronize(model, service, { clientId: 1002, hurried: false });
        await compareAll(model, service);
        await fc.asyncModelRun(() => ({ model, real: service }), sequence);
        await compareAll(model, service);
        ended += 1;
      }),
      {
        numRuns: Number(runs),
        ...(seed === 'random' ? {} : { seed: Number(seed) }),
        endOnFailure: !exploring,
      },
    );
    expect(ended).toBe(Number(runs));
  },
  exploring ? 3_600_000 : 300_000,
);

import { resolve } from 'node:path';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { askedSuite } from '../suites.ts';
import { runnableProjects } from '../support/engines.ts';

// run.ts names the tests of one file. Those that need an emulator run on one: the faster, where it runs.
const tests = JSON.parse(process.env['MUTATION_TESTS'] ?? '[]') as string[];
const ofAdapters = tests.filter((test) => test.endsWith('.adapter.test.ts'));
const ofContract = tests.filter((test) => test.startsWith('test/contract/'));
const ofInfra = tests.filter((test) => /^test\/infra\/[^/]*$/.test(test));
const ofQueues = tests.filter((test) => test.endsWith('.queue.test.ts'));
const ofUnits = tests.filter((test) => ![ofAdapters, ofContract, ofInfra, ofQueues].flat().includes(test));
const limits = { testTimeout: 60_000, hookTimeout: 60_000, provide: { thorough: askedSuite() !== 'quick' } };
const support = (name: string) => resolve(import.meta.dirname, '../support', name);
const engine = Object.keys(runnableProjects()).at(-1) ?? 'adapters';

/** The first failing test ends the run, so the quick ones go first. Vitest would begin with the slowest. */
class AsNamed extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const placeOf = ({ moduleId }: TestSpecification) => tests.findIndex((test) => moduleId.endsWith(test));
    return files.toSorted((one, other) => placeOf(one) - placeOf(other));
  }
}

export default defineConfig({
  test: {
    root: resolve(import.meta.dirname, '../..'),
    sequence: { sequencer: AsNamed },
    projects: [
      { ...limits, name: 'unit', include: ofUnits },
      { ...limits, name: 'queues', include: ofQueues, globalSetup: support('queue-emulator.ts') },
      { ...limits, name: engine, include: ofAdapters, globalSetup: support('emulators.ts') },
      { ...limits, name: 'infra', include: ofInfra, globalSetup: support('infra-build.ts') },
      {
        ...limits,
        name: 'contract',
        include: ofContract,
        globalSetup: support('running-stack.ts'),
        setupFiles: [support('functions-output.ts')],
        maxWorkers: 1,
      },
    ]
      .filter(({ include }) => include.length > 0)
      .map((test) => ({ test })),
  },
});

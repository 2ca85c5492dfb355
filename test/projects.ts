import { resolve } from 'node:path';
import { filesOf, type Suite, testFiles } from './suites.ts';
import { contractStacks, runnableProjects } from './support/engines.ts';

const support = (name: string) => [resolve(import.meta.dirname, 'support', name)];

const adapterTests = 'test/**/*.adapter.test.ts';
const queueTests = 'test/**/*.queue.test.ts';
const onEngines = [adapterTests, 'test/faults/**/*.test.ts'];
const inOneProcess = [
  'test/{functions,lib,pipeline,support}/**/*.test.ts',
  'test/infra/{local,openapi,operate,simulator}/**/*.test.ts',
];

/** The projects of vitest that a half needs; of a run by name all of them, with every file. */
export function projectsOf(suite: Suite | undefined) {
  // As many files at once as there are cores. Vitest would leave one core out, and so take one file at a time on two.
  const shared = {
    // Only to end what hangs: several files share the cores, and other programs may want them too.
    expect: { requireAssertions: true, poll: { timeout: 50_000 } },
    testTimeout: 60_000,
    hookTimeout: 60_000,
    maxWorkers: '100%',
    setupFiles: support('quiet-output.ts'),
    provide: { thorough: suite !== 'quick' },
  };
  const of = (include: readonly string[], exclude: readonly string[] = []) => ({
    ...shared,
    include: filesOf(suite, testFiles(include, exclude)),
  });
  // The adapter and fault tests run on each DynamoDB emulator that this machine has (support/engines.ts): on the first one
  // as the half says, on the others in the rest alone, where explorations are short.
  const [first = '', ...others] = Object.keys(runnableProjects()).toReversed();
  const onOthers = { ...shared, include: suite === 'quick' ? [] : testFiles(onEngines), provide: { thorough: false } };
  const emulators = { globalSetup: support('emulators.ts') };
  const projects = [
    { name: 'unit', ...of(inOneProcess, [adapterTests, queueTests]) },
    { name: 'queues', ...of([queueTests]), globalSetup: support('queue-emulator.ts') },
    { name: first, ...of(onEngines), ...emulators },
    ...others.map((name) => ({ name, ...onOthers, ...emulators })),
    { name: 'infra', ...of(['test/infra/*.test.ts']), globalSetup: support('infra-build.ts') },
    {
      name: 'contract',
      ...of(['test/contract/**/*.test.ts']),
      globalSetup: support('running-stack.ts'),
      setupFiles: [...shared.setupFiles, ...support('functions-output.ts')],
      // Each worker has a stack, and runs one file after the other on it; after all others.
      maxWorkers: contractStacks(),
      sequence: { groupOrder: 1 },
    },
  ];
  return projects.filter(({ include }) => include.length > 0);
}

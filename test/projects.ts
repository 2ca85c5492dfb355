import { availableParallelism } from 'node:os';
import { resolve } from 'node:path';
import { filesOf, type Suite, simulatorTests, testFiles } from './suites.ts';
import { contractStacks, runnableProjects } from './support/engines.ts';

const support = (name: string) => [resolve(import.meta.dirname, 'support', name)];

const adapterTests = 'test/**/*.adapter.test.ts';
const queueTests = 'test/**/*.queue.test.ts';
const onEngines = [adapterTests, 'test/faults/**/*.test.ts'];
/** Engines may differ in these: they are about what DynamoDB does, and all others about what is done with it. */
const onEachEngine = [
  'test/lib/**/*.adapter.test.ts',
  'test/pipeline/write-units.adapter.test.ts',
  'test/infra/local/tables.adapter.test.ts',
  // No test in lib proves the bounds and pages of the list of dispatches.
  'test/functions/{dispatches-find,report-cursors}.adapter.test.ts',
];
/** It replaces a module of Node.js, so it has a process of its own. */
const inOwnProcess = ['test/lib/access/sign-in/password-without-argon2.test.ts'];
const inOneProcess = [
  'test/{functions,lib,mutation,pipeline,support}/**/*.test.ts',
  'test/infra/{local,openapi,operate}/**/*.test.ts',
];

/** Returns the vitest projects of a half of the tests; a run by name has all projects with all files. */
export function projectsOf(suite: Suite | undefined) {
  // Many files wait for programs that they start, so one more file than there are cores runs at a time. Whole
  // explorations (`rest`) wait for nothing, and need a process of their own.
  const isRest = suite === 'rest';
  const workers = availableParallelism() + (isRest ? 0 : 1);
  const stacks = contractStacks(workers);
  const shared = {
    // The timeouts only end a test that hangs: several files share the cores, and other programs need them too.
    expect: { requireAssertions: true, poll: { timeout: 50_000 } },
    testTimeout: 60_000,
    hookTimeout: 60_000,
    maxWorkers: workers,
    setupFiles: support('quiet-output.ts'),
    provide: { thorough: suite !== 'quick' },
  };
  const of = (include: readonly string[], exclude: readonly string[] = []) => ({
    ...shared,
    include: filesOf(suite, testFiles(include, exclude)),
  });
  // The first DynamoDB emulator of this machine (support/engines.ts) has the adapter and fault tests of the half. The
  // others run in `rest` only, with short explorations.
  const [first = '', ...others] = Object.keys(runnableProjects()).toReversed();
  const onOthers = {
    ...shared,
    include: suite === 'quick' ? [] : testFiles(onEachEngine),
    provide: { thorough: false },
  };
  const emulators = { globalSetup: support('emulators.ts') };
  // Files of one worker share its process and what it has loaded: starting a process for each takes a third of the
  // time.
  const oneProcess = { isolate: isRest };
  const projects = [
    { name: 'unit', ...of(inOneProcess, [adapterTests, queueTests, ...inOwnProcess]), ...oneProcess },
    { name: 'alone', ...of(inOwnProcess) },
    { name: 'simulator', ...of([simulatorTests]) },
    { name: 'queues', ...of([queueTests]), globalSetup: support('queue-emulator.ts'), ...oneProcess },
    { name: first, ...of(onEngines), ...emulators, ...oneProcess },
    ...others.map((name) => ({ name, ...onOthers, ...emulators, ...oneProcess })),
    { name: 'infra', ...of(['test/infra/*.test.ts']), globalSetup: support('infra-build.ts') },
    {
      name: 'contract',
      ...of(['test/contract/**/*.test.ts']),
      globalSetup: support('running-stack.ts'),
      setupFiles: [...shared.setupFiles, ...support('functions-output.ts')],
      // Each worker has its own stack, and runs its files on it one after another. Beside the other projects' files
      // there has to be a stack for every worker.
      maxWorkers: stacks,
      sequence: { groupOrder: stacks === workers && !isRest ? 0 : 1 },
    },
  ];
  return projects.filter(({ include }) => include.length > 0);
}

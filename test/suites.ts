import { globSync, readFileSync } from 'node:fs';
import { join, matchesGlob } from 'node:path';
import { reachedByChanges } from './reach.ts';

const root = join(import.meta.dirname, '..');

/**
 * `npm test` runs `quick`, the half that a change breaks most easily, and `npm run test:all` runs `rest`. Each promise
 * is proven in one of them (PROMISES.md). A run by name runs every file whole.
 */
export type Suite = 'quick' | 'rest';

/** Returns the half that this process runs; undefined in a run by name. */
export function askedSuite(environment: Readonly<Record<string, string | undefined>> = process.env): Suite | undefined {
  const asked = environment['TEST_SUITE'];
  if (asked === undefined || asked === 'quick' || asked === 'rest') return asked;
  throw new Error(`TEST_SUITE is ${asked}: quick or rest was expected`);
}

/** The workspace infra/simulator also runs these alone: `npm test -w infra/simulator`. */
export const simulatorTests = 'infra/simulator/test/**/*.test.ts';

/** Every test file is among these. */
export const allTests: readonly string[] = ['test/**/*.test.ts', simulatorTests];

/** These files run in `rest` only: they are slow, and few changes break them. */
const restOnly = [
  // The simulator and its console, in a browser too, are a product of its own.
  simulatorTests,
  // These start, watch and stop the whole local stack.
  'test/infra/local-start.test.ts',
  'test/contract/demo.test.ts',
  'test/contract/console-dispatches.test.ts',
  'test/contract/console-people.test.ts',
  'test/contract/console-reference.test.ts',
  'test/contract/readme-tour.test.ts',
  'test/contract/webhooks-listen.test.ts',
  // These are example programs for readers, and commands against the running stack.
  'test/contract/examples.test.ts',
  'test/contract/generated-clients.test.ts',
  'test/contract/acceptance.test.ts',
  'test/contract/doctor.test.ts',
  'test/contract/smoke.test.ts',
  'test/contract/template-types.test.ts',
  // These wait for a timeout, or send many messages.
  'test/contract/erase.test.ts',
  'test/contract/event-delivery.test.ts',
  'test/contract/held-dispatches.test.ts',
  'test/contract/worker-kill.test.ts',
  'test/contract/hostile-bodies.test.ts',
  'test/functions/body-memory.test.ts',
  'test/lib/messages/accept/acceptance-cost.test.ts',
  'test/infra/edge-over-http.test.ts',
  // `quick` has a smaller exploration or world in their place.
  'test/pipeline/{estimated-runs,few-workers,held-campaign,outage,sender-edges,strangers,store-latency}.test.ts',
];

/** These run in `rest` too, and in `quick` only when something that they reach has changed (reach.ts). */
const whenReached = [
  // These are the operators' commands.
  'test/infra/operate/**',
  'test/infra/{commands,doctor}.test.ts',
  // These are the parts of the local stack.
  'test/infra/local/**',
  'test/infra/{local-gateway,local-runner,webhook-receiver}.test.ts',
  // These run policies in virtual time, in every order of a small world, or with a fault at every step.
  'test/pipeline/**',
  'test/faults/**',
  'test/lib/**/*-{explorer,in-virtual-time}.test.ts',
  'test/lib/messages/send/claims/slices.test.ts',
  'test/lib/webhooks/delivery/delivery-rate.test.ts',
];

/**
 * Tells whether a file imports `support/thorough.ts`: it runs a part of its cases in `quick`, and all of them in
 * `rest`.
 */
export function isSized(file: string): boolean {
  return readFileSync(join(root, file), 'utf8').includes("/support/thorough.ts'");
}

export function isRestOnly(file: string): boolean {
  return restOnly.some((pattern) => matchesGlob(file, pattern));
}

export function isWhenReached(file: string): boolean {
  return !isRestOnly(file) && whenReached.some((pattern) => matchesGlob(file, pattern));
}

/** Returns the files that `quick` leaves to `rest` because nothing that they reach has changed. */
export function unreachedFiles(): string[] {
  const some = testFiles(allTests).filter(isWhenReached);
  const reached = reachedByChanges(some);
  return some.filter((file) => !reached.has(file));
}

/** Finds the test files that match a pattern of `include` and none of `exclude`; paths start from the root. */
export function testFiles(include: readonly string[], exclude: readonly string[] = []): string[] {
  // An installed example has packages with tests of their own.
  const found = globSync([...include], { cwd: root, exclude: ['**/node_modules'] });
  return found.filter((file) => !exclude.some((pattern) => matchesGlob(file, pattern)));
}

/** These options of Vitest have their value after a blank, as people write them. */
const takesValue = ['-t', '--testNamePattern', '--project', '--reporter', '--retry', '--bail', '--maxWorkers'];

/** Returns the files that a half runs; all of them in a run by name. */
export function filesOf(suite: Suite | undefined, files: readonly string[]): string[] {
  if (suite === undefined) return [...files];
  if (suite === 'rest') return files.filter((file) => isRestOnly(file) || isWhenReached(file) || isSized(file));
  const reached = reachedByChanges(files.filter(isWhenReached));
  return files.filter((file) => (isWhenReached(file) ? reached.has(file) : !isRestOnly(file)));
}

/**
 * Returns the names of tests in arguments of Vitest, and those that no file has in its path. Vitest itself ignores a
 * wrong name beside a right one.
 */
export function namedTests(given: readonly string[], files: readonly string[]) {
  const names = given.filter((word, index) => !word.startsWith('-') && !takesValue.includes(given[index - 1] ?? ''));
  const paths = files.map((file) => join(root, file).toLowerCase());
  const part = (name: string) => name.replace(/:\d+$/, '').replace(/^\.\//, '').toLowerCase();
  return { names, unmatched: names.filter((name) => !paths.some((path) => path.includes(part(name)))) };
}

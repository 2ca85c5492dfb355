import { globSync, readFileSync } from 'node:fs';
import { join, matchesGlob } from 'node:path';

const root = join(import.meta.dirname, '..');

/**
 * The two halves of the tests. `npm test` runs `quick`, what a change breaks most easily, and `npm run test:all` runs `rest`;
 * each promise is proven in one of them (PROMISES.md). Without either, in a run of tests by name, every file is whole.
 */
export type Suite = 'quick' | 'rest';

/** The half that this process was asked for; undefined in a run by name. */
export function askedSuite(environment: Readonly<Record<string, string | undefined>> = process.env): Suite | undefined {
  const asked = environment['TEST_SUITE'];
  if (asked === undefined || asked === 'quick' || asked === 'rest') return asked;
  throw new Error(`TEST_SUITE is ${asked}: quick or rest was expected`);
}

/** What runs in `rest` alone: slow, and broken by few changes. */
const restOnly = [
  // The simulator and its console, also in a browser, are a product of their own.
  'test/infra/simulator/**',
  // Starting, watching and stopping the whole local stack.
  'test/infra/local-start.test.ts',
  'test/contract/demo.test.ts',
  'test/contract/console-dispatches.test.ts',
  'test/contract/console-people.test.ts',
  'test/contract/readme-tour.test.ts',
  'test/contract/webhooks-listen.test.ts',
  // Programs for readers, and commands against the running stack.
  'test/contract/examples.test.ts',
  'test/contract/generated-clients.test.ts',
  'test/contract/acceptance.test.ts',
  'test/contract/doctor.test.ts',
  'test/contract/smoke.test.ts',
  'test/contract/template-types.test.ts',
  // What takes long, because something has to time out first or a lot is sent.
  'test/contract/erase.test.ts',
  'test/contract/event-delivery.test.ts',
  'test/contract/held-jobs.test.ts',
  'test/contract/worker-kill.test.ts',
  'test/contract/hostile-bodies.test.ts',
  'test/functions/body-memory.test.ts',
  'test/lib/messages/accept/acceptance-cost.test.ts',
  'test/infra/edge-over-http.test.ts',
  'test/infra/local/poller.queue.test.ts',
  // Explorations and worlds whose smaller sisters are in the other half.
  'test/lib/messages/watch/watch-explorer.test.ts',
  'test/pipeline/{estimated-runs,few-workers,outage}.test.ts',
];

/** Whether a file imports `support/thorough.ts`: such a file takes a part of its cases in `quick`, and all of them in `rest`. */
export function isSized(file: string): boolean {
  return readFileSync(join(root, file), 'utf8').includes("/support/thorough.ts'");
}

/** Whether a file runs in `rest` and not in `quick`. */
export function isRestOnly(file: string): boolean {
  return restOnly.some((pattern) => matchesGlob(file, pattern));
}

/** The test files below `test/` that match one of the patterns and none of those that are excluded, by their paths from the root. */
export function testFiles(include: readonly string[], exclude: readonly string[] = []): string[] {
  // What an example has installed has tests of its own.
  const found = globSync([...include], { cwd: root, exclude: ['**/node_modules'] });
  return found.filter((file) => !exclude.some((pattern) => matchesGlob(file, pattern)));
}

/** Those of the files that a half runs; all of them in a run by name. */
export function filesOf(suite: Suite | undefined, files: readonly string[]): string[] {
  if (suite === undefined) return [...files];
  return files.filter((file) => (suite === 'quick' ? !isRestOnly(file) : isRestOnly(file) || isSized(file)));
}

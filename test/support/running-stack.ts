import { appendFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { chosenDynamoDb } from '../../infra/local/preflight.ts';
import { type RunningStack, startStack } from '../../infra/local/stack.ts';
import { filesOf, testFiles } from '../suites.ts';
import type { StackContext } from './addresses.ts';
import { answersSeen, forgetAnswers } from './answers-seen.ts';
import { buildOnce } from './built-functions.ts';
import { tellAt } from './callback.ts';
import { leaksIn } from './log-leaks.ts';

const root = join(import.meta.dirname, '..', '..');
const dist = join(root, 'dist');

/**
 * Global set-up of the contract tests: a whole local stack for each worker, on free ports, with the demo data. At the end
 * `dist/contract-answers.json` says which documented answers the run has seen and which not. A run of all files fails when
 * an answer is documented that nobody has shown (D48); any run, when a line that a test brought about shows a secret, a
 * phone number or a value of a message (R44).
 */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  mkdirSync(dist, { recursive: true });
  forgetAnswers();
  await buildOnce();
  const logs = Array.from({ length: project.config.maxWorkers }, (_, at) =>
    join(dist, `contract-functions-${at + 1}.log`),
  );
  const stacks = await Promise.all(logs.map(startFor));
  project.provide(
    'stacks',
    stacks.map(({ context }) => context),
  );
  return async () => {
    await Promise.all(stacks.map(({ stack }) => stack.stop()));
    const answers = answersSeen();
    writeFileSync(join(dist, 'contract-answers.json'), JSON.stringify(answers, null, 2));
    const leaks = logs.flatMap((log) => leaksIn(readFileSync(log, 'utf8')));
    if (leaks.length > 0) throw new Error(`${leaks.length} log lines show what they must not:\n${leaks.join('\n')}`);
    if (isWhole(project) && answers.unseen.length > 0) {
      throw new Error(
        `documented, and answered in no test (test/support/shown-elsewhere.ts):\n${answers.unseen.join('\n')}`,
      );
    }
  };
}

/** Whether every contract test of `npm test` was run, and not some of them by their names: together they see every answer. */
function isWhole({ vitest }: TestProject): boolean {
  const ran = vitest.state.getPaths();
  const files = filesOf('quick', testFiles(['test/contract/**/*.test.ts'])).map((file) => join(root, file));
  return vitest.config.testNamePattern === undefined && files.every((file) => ran.includes(file));
}

async function startFor(functionLog: string, at: number): Promise<{ stack: RunningStack; context: StackContext }> {
  writeFileSync(functionLog, '');
  const stack = await startStack({
    apiPort: 0,
    platformPort: 0,
    outputDirectory: join(dist, `cdk-contract-${process.pid}-${at + 1}`),
    built: true,
    dynamodb: chosenDynamoDb({ ...process.env, DATA: '' }),
    sqsEndpoint: process.env['AWS_ENDPOINT_URL_SQS'],
    // One start of a process is enough for all the tests that come to its function now and then.
    idleMs: 15 * 60_000,
    onLog: ({ functionName, text }) => appendFileSync(functionLog, `${functionName} | ${text}\n`),
    report: (line) => appendFileSync(functionLog, `stack | ${line}\n`),
  });
  // Outcomes stay as the dispatch left them, except in tests that ask to be told more.
  await tellAt(stack.addresses.platformUrl, null);
  const { region: _region, stage: _stage, ...addresses } = stack.addresses;
  return { stack, context: { ...addresses, functionLog } };
}

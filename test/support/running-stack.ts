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
 * Starts one local stack with demo data for each worker of the contract tests. `dist/contract-answers.json` lists seen
 * and missing documented answers. A whole run fails for missing ones (D48), any run for secrets or personal data in
 * logs (R44).
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

/** Tells whether this run has every contract test of `npm test`: only together they see every answer. */
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
    // One process start serves all the tests that call its function from time to time.
    idleMs: 15 * 60_000,
    withoutWindows: true,
    onLog: ({ functionName, text }) => appendFileSync(functionLog, `${functionName} | ${text}\n`),
    report: (line) => appendFileSync(functionLog, `stack | ${line}\n`),
  });
  // Without webhooks, outcomes stay as the dispatch wrote them; a test that needs webhooks switches them on.
  await tellAt(stack.addresses.platformUrl, null);
  const { region: _region, stage: _stage, ...addresses } = stack.addresses;
  return { stack, context: { ...addresses, functionLog } };
}

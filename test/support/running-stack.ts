import { appendFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { chosenDynamoDb } from '../../infra/local/preflight.ts';
import { startStack } from '../../infra/local/stack.ts';
import { tellAt } from './callback.ts';
import { leaksIn } from './log-leaks.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    apiUrl: string;
    platformUrl: string;
    dynamodbEndpoint: string;
    sqsEndpoint: string;
    secretsEndpoint: string;
    queueUrls: Readonly<Record<string, string>>;
    /** Where events for the local receiver are delivered (infra/local/webhook-receiver.ts). */
    webhookReceiverPort: number;
    /** File with every line that a function has written so far. */
    functionLog: string;
  }
}

const dist = join(import.meta.dirname, '..', '..', 'dist');

/**
 * Global set-up of the contract tests: the whole local stack once, on free ports, with the demo data. At the end the run
 * fails when any line that any test brought about shows a secret, a phone number or a value of a message (R44).
 */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const functionLog = join(dist, 'contract-functions.log');
  mkdirSync(dist, { recursive: true });
  writeFileSync(functionLog, '');
  const stack = await startStack({
    apiPort: 0,
    platformPort: 0,
    outputDirectory: join(dist, `cdk-contract-${process.pid}`),
    dynamodb: chosenDynamoDb({ ...process.env, DATA: '' }),
    sqsEndpoint: process.env['SQS_ENDPOINT'],
    onLog: ({ functionName, text }) => appendFileSync(functionLog, `${functionName} | ${text}\n`),
    report: (line) => appendFileSync(functionLog, `stack | ${line}\n`),
  });
  // Outcomes stay as the dispatch left them, except in tests that ask to be told more.
  await tellAt(stack.addresses.platformUrl, null);
  const { region: _region, stage: _stage, ...addresses } = stack.addresses;
  const context = { ...addresses, functionLog };
  for (const [key, value] of Object.entries(context)) project.provide(key as keyof typeof context, value as never);
  return async () => {
    await stack.stop();
    const leaks = leaksIn(readFileSync(functionLog, 'utf8'));
    if (leaks.length > 0) throw new Error(`${leaks.length} log lines show what they must not:\n${leaks.join('\n')}`);
  };
}

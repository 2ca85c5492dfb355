import type { TestProject } from 'vitest/node';
import { runningEmulator, startSqsEmulator } from '../../infra/local/emulators.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    sqsEndpoint: string;
  }
}

/** Starts one SQS emulator for all files of tests that need queues and no table. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const given = process.env['AWS_ENDPOINT_URL_SQS'];
  const sqs = given === undefined ? await startSqsEmulator() : runningEmulator(given);
  project.provide('sqsEndpoint', sqs.endpoint);
  return () => sqs.stop();
}

import type { TestProject } from 'vitest/node';
import { runningEmulator, startDynamoDbLocal, startSqsEmulator } from '../../infra/local/emulators.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    dynamodbEndpoint: string;
    sqsEndpoint: string;
  }
}

/** Global set-up of the adapter and fault tests: one DynamoDB Local and one SQS emulator for all files. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const given = { dynamodb: process.env['DYNAMODB_ENDPOINT'], sqs: process.env['SQS_ENDPOINT'] };
  const dynamodb = given.dynamodb === undefined ? await startDynamoDbLocal() : runningEmulator(given.dynamodb);
  const sqs = given.sqs === undefined ? await startSqsEmulator() : runningEmulator(given.sqs);
  project.provide('dynamodbEndpoint', dynamodb.endpoint);
  project.provide('sqsEndpoint', sqs.endpoint);
  return async () => {
    await Promise.all([dynamodb.stop(), sqs.stop()]);
  };
}

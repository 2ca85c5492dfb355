import type { TestProject } from 'vitest/node';
import { type DynamoDbEngine, startDynamoDb } from '../../infra/local/dynamodb.ts';
import { runningEmulator, startSqsEmulator } from '../../infra/local/emulators.ts';
import { engineOfProject } from './engines.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    dynamodbEndpoint: string;
    /** Undefined when the run was given a running server (DYNAMODB_ENDPOINT). */
    dynamodbEngine: DynamoDbEngine | undefined;
    sqsEndpoint: string;
  }
}

/** Global set-up of the adapter and fault tests: one DynamoDB and one SQS emulator for all files of a project. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const given = { dynamodb: process.env['DYNAMODB_ENDPOINT'], sqs: process.env['SQS_ENDPOINT'] };
  const engine = engineOfProject[project.name] ?? 'local';
  const dynamodb = given.dynamodb === undefined ? await startDynamoDb(engine) : runningEmulator(given.dynamodb);
  const sqs = given.sqs === undefined ? await startSqsEmulator() : runningEmulator(given.sqs);
  project.provide('dynamodbEndpoint', dynamodb.endpoint);
  project.provide('dynamodbEngine', given.dynamodb === undefined ? engine : undefined);
  project.provide('sqsEndpoint', sqs.endpoint);
  return async () => {
    await Promise.all([dynamodb.stop(), sqs.stop()]);
  };
}

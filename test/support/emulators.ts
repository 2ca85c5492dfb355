import type { TestProject } from 'vitest/node';
import { type DynamoDbEngine, startDynamoDb } from '../../infra/local/dynamodb.ts';
import { runningEmulator } from '../../infra/local/emulators.ts';
import { engineOfProject } from './engines.ts';
import { setup as startQueues } from './queue-emulator.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    dynamodbEndpoint: string;
    /** It is undefined when the run uses a running server (AWS_ENDPOINT_URL_DYNAMODB). */
    dynamodbEngine: DynamoDbEngine | undefined;
  }
}

/** Starts one DynamoDB and one SQS emulator for all adapter or fault tests of a project. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const given = process.env['AWS_ENDPOINT_URL_DYNAMODB'];
  const engine = engineOfProject[project.name] ?? 'local';
  const dynamodb = given === undefined ? await startDynamoDb(engine) : runningEmulator(given);
  const stopQueues = await startQueues(project);
  project.provide('dynamodbEndpoint', dynamodb.endpoint);
  project.provide('dynamodbEngine', given === undefined ? engine : undefined);
  return async () => {
    await Promise.all([dynamodb.stop(), stopQueues()]);
  };
}

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { App, Duration, Stack } from 'aws-cdk-lib';
import { HttpApi, HttpMethod, HttpRoute, HttpRouteKey } from 'aws-cdk-lib/aws-apigatewayv2';
import { HttpLambdaAuthorizer, HttpLambdaResponseType } from 'aws-cdk-lib/aws-apigatewayv2-authorizers';
import { HttpLambdaIntegration } from 'aws-cdk-lib/aws-apigatewayv2-integrations';
import { AttributeType, ProjectionType, Table, TableV2 } from 'aws-cdk-lib/aws-dynamodb';
import { Code, Function as LambdaFunction, Runtime } from 'aws-cdk-lib/aws-lambda';
import { SqsEventSource } from 'aws-cdk-lib/aws-lambda-event-sources';
import { Secret } from 'aws-cdk-lib/aws-secretsmanager';
import { Queue } from 'aws-cdk-lib/aws-sqs';
import { afterAll } from 'vitest';

const directories: string[] = [];
afterAll(() => {
  for (const directory of directories.splice(0)) rmSync(directory, { recursive: true });
});

function newDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), 'cdk-app-'));
  directories.push(directory);
  return directory;
}

/** Synthesizes an app into a new folder and returns its path. */
export function synthesized(build: (app: App) => void): string {
  const app = new App({ outdir: newDirectory() });
  build(app);
  return app.synth().directory;
}

export function codeDirectory(): string {
  const directory = newDirectory();
  writeFileSync(join(directory, 'index.mjs'), 'export const handler = async () => undefined;\n');
  return directory;
}

export function lambdaFunction(stack: Stack, id: string, environment: Record<string, string> = {}): LambdaFunction {
  return new LambdaFunction(stack, id, {
    runtime: Runtime.NODEJS_24_X,
    handler: 'index.handler',
    code: Code.fromAsset(codeDirectory()),
    environment,
  });
}

/** Adds two stacks as in the service: state in the first, and functions that refer to it in the second. */
export function twoStacks(app: App): void {
  const stateful = new Stack(app, 'Stateful');
  const dead = new Queue(stateful, 'Dead', { queueName: 'dispatches-dead', retentionPeriod: Duration.days(14) });
  const dispatches = new Queue(stateful, 'Dispatches', {
    queueName: 'dispatches',
    visibilityTimeout: Duration.seconds(360),
    deliveryDelay: Duration.seconds(3),
    deadLetterQueue: { queue: dead, maxReceiveCount: 5 },
  });
  const messages = new TableV2(stateful, 'Messages', {
    tableName: 'messages',
    partitionKey: { name: 'pk', type: AttributeType.STRING },
    sortKey: { name: 'sk', type: AttributeType.STRING },
    timeToLiveAttribute: 'expiresAtSeconds',
    globalSecondaryIndexes: [
      {
        indexName: 'byDid',
        partitionKey: { name: 'did', type: AttributeType.STRING },
        sortKey: { name: 'at', type: AttributeType.NUMBER },
        projectionType: ProjectionType.KEYS_ONLY,
      },
    ],
  });
  const audit = new Table(stateful, 'Audit', { partitionKey: { name: 'pk', type: AttributeType.STRING } });
  const keys = new Secret(stateful, 'Keys', { secretName: 'token-signing-keys' });

  const stateless = new Stack(app, 'Stateless');
  const worker = new LambdaFunction(stateless, 'Worker', {
    functionName: 'worker',
    runtime: Runtime.NODEJS_24_X,
    handler: 'index.handler',
    code: Code.fromAsset(codeDirectory()),
    timeout: Duration.seconds(60),
    memorySize: 256,
    environment: {
      DISPATCHES_QUEUE_URL: dispatches.queueUrl,
      DISPATCHES_QUEUE_ARN: dispatches.queueArn,
      MESSAGES_TABLE: messages.tableName,
      AUDIT_TABLE: audit.tableArn,
      KEYS_SECRET: keys.secretArn,
      KEYS_SECRET_NAME: keys.secretName,
      WHERE: `${stateless.partition}/${stateless.region}/${stateless.account}`,
      PLAIN: 'as given',
    },
  });
  worker.addEventSource(
    new SqsEventSource(dispatches, {
      batchSize: 10,
      maxBatchingWindow: Duration.seconds(1),
      maxConcurrency: 20,
      reportBatchItemFailures: true,
    }),
  );
  const api = new HttpApi(stateless, 'Api');
  const authorizer = new HttpLambdaAuthorizer('Authorizer', lambdaFunction(stateless, 'AuthorizerFunction'), {
    responseTypes: [HttpLambdaResponseType.SIMPLE],
    resultsCacheTtl: Duration.seconds(60),
  });
  const integration = new HttpLambdaIntegration('Integration', worker);
  const guarded = HttpRouteKey.with('/v1/templates/{did}', HttpMethod.GET);
  const open = HttpRouteKey.with('/health', HttpMethod.GET);
  new HttpRoute(stateless, 'Guarded', { httpApi: api, integration, authorizer, routeKey: guarded });
  new HttpRoute(stateless, 'Open', { httpApi: api, integration, routeKey: open });
}

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { CfnCondition, CfnOutput, CfnResource, Duration, Fn, Stack, Stage } from 'aws-cdk-lib';
import { CorsHttpMethod, type CorsPreflightOptions, HttpApi, HttpMethod } from 'aws-cdk-lib/aws-apigatewayv2';
import { HttpLambdaAuthorizer, HttpLambdaResponseType } from 'aws-cdk-lib/aws-apigatewayv2-authorizers';
import { HttpLambdaIntegration } from 'aws-cdk-lib/aws-apigatewayv2-integrations';
import { AttributeType, Table } from 'aws-cdk-lib/aws-dynamodb';
import {
  Alias,
  CfnAlias,
  CfnEventSourceMapping,
  Code,
  type IFunction,
  type IVersion,
  Function as LambdaFunction,
  Runtime,
} from 'aws-cdk-lib/aws-lambda';
import { SqsEventSource } from 'aws-cdk-lib/aws-lambda-event-sources';
import { CfnQueue, Queue } from 'aws-cdk-lib/aws-sqs';
import { describe, expect, test } from 'vitest';
import type { LocalTemplate } from '../../../infra/local/local-template.ts';
import { readLocalTemplate } from '../../../infra/local/template.ts';
import { lambdaFunction, synthesized, twoStacks } from '../../support/cdk-app.ts';

function read(build: Parameters<typeof synthesized>[0]): LocalTemplate {
  return readLocalTemplate({
    cdkOutDirectory: synthesized(build),
    queueUrl: (name) => `http://127.0.0.1:9/000000000000/${name}`,
  });
}

function only<T>(values: Readonly<Record<string, T>>): T {
  const [value, ...others] = Object.values(values);
  if (value === undefined || others.length > 0) throw new Error(`expected one, found ${Object.keys(values)}`);
  return value;
}

test('an alias is another name of its function: for queues, routes and authorizers', () => {
  const template = read((app) => {
    const stack = new Stack(app, 'App');
    const worker = lambdaFunction(stack, 'Worker');
    const live = new Alias(stack, 'Live', { aliasName: 'live', version: worker.currentVersion as IVersion });
    live.addEventSource(new SqsEventSource(new Queue(stack, 'Dispatches')));
    const api = new HttpApi(stack, 'Api');
    const authorizer = new HttpLambdaAuthorizer('Authorizer', live as IFunction, {
      responseTypes: [HttpLambdaResponseType.SIMPLE],
    });
    const integration = new HttpLambdaIntegration('Integration', live as IFunction);
    api.addRoutes({ path: '/a', methods: [HttpMethod.GET], integration, authorizer });
  });
  const { id } = only(template.functions);
  expect(template.eventSources.map(({ functionId }) => functionId)).toEqual([id]);
  expect(template.routes.map(({ functionId }) => functionId)).toEqual([id]);
  expect(only(template.authorizers).functionId).toBe(id);
});

describe('what pages of other origins may do', () => {
  const withCors = (corsPreflight: CorsPreflightOptions | undefined) =>
    read((app) => {
      new HttpApi(new Stack(app, 'App'), 'Api', corsPreflight === undefined ? {} : { corsPreflight });
    }).cors;

  test('is read as it is configured, and absent where it is not', () => {
    const allowMethods = [CorsHttpMethod.GET];
    expect(withCors(undefined)).toBeUndefined();
    expect(withCors({ allowOrigins: ['https://a.example'], allowMethods, maxAge: Duration.seconds(5) })).toEqual({
      allowOrigins: ['https://a.example'],
      allowMethods: ['GET'],
      allowHeaders: [],
      exposeHeaders: [],
      maxAgeSeconds: 5,
    });
  });

  test.each([{ allowOrigins: ['https://*'] }, { allowOrigins: ['https://a.example'], allowCredentials: true }])(
    'is refused where the local gateway would not do it: %j',
    (corsPreflight) => {
      expect(() => withCors(corsPreflight)).toThrow(/the local stack (?:knows no patterns|does not run credentials)/);
    },
  );
});

describe('two stacks with references across', () => {
  const template = read(twoStacks);
  const worker = Object.values(template.functions).find(({ name }) => name === 'worker');

  test('the environment of a function has every reference resolved', () => {
    expect(worker?.environment).toEqual({
      DISPATCHES_QUEUE_URL: 'http://127.0.0.1:9/000000000000/dispatches',
      DISPATCHES_QUEUE_ARN: 'arn:aws:sqs:us-east-1:000000000000:dispatches',
      MESSAGES_TABLE: 'messages',
      AUDIT_TABLE: expect.stringMatching(/^arn:aws:dynamodb:us-east-1:000000000000:table\/Stateful-Audit\w+$/),
      KEYS_SECRET: 'arn:aws:secretsmanager:us-east-1:000000000000:secret:token-signing-keys-local0',
      KEYS_SECRET_NAME: 'token-signing-keys',
      WHERE: 'aws/us-east-1/000000000000',
      PLAIN: 'as given',
    });
  });

  test('a function has its limits and the directory of its code', () => {
    expect(worker).toMatchObject({ handler: 'index.handler', timeoutSeconds: 60, memoryMb: 256 });
    expect(readFileSync(join(worker?.codeDirectory ?? '', 'index.mjs'), 'utf8')).toContain('handler');
    const authorizer = Object.values(template.functions).find(({ id }) => id.includes('AuthorizerFunction'));
    expect(authorizer).toMatchObject({ timeoutSeconds: 3, memoryMb: 128, environment: {} });
  });

  test('routes point to their function and, where guarded, to their authorizer', () => {
    const [authorizerId] = Object.keys(template.authorizers);
    expect(template.routes).toEqual([
      { method: 'GET', path: '/v1/templates/{did}', functionId: worker?.id, authorizerId },
      { method: 'GET', path: '/health', functionId: worker?.id },
    ]);
    expect(only(template.authorizers)).toEqual({
      functionId: expect.stringMatching(/^Stateless\.AuthorizerFunction/),
      identitySources: ['$request.header.Authorization'],
      cacheTtlSeconds: 60,
    });
  });

  test('tables have keys, indexes and TTL, whichever construct made them', () => {
    expect(template.tables).toEqual([
      {
        name: 'messages',
        attributeDefinitions: [
          { AttributeName: 'pk', AttributeType: 'S' },
          { AttributeName: 'sk', AttributeType: 'S' },
          { AttributeName: 'did', AttributeType: 'S' },
          { AttributeName: 'at', AttributeType: 'N' },
        ],
        keySchema: [
          { AttributeName: 'pk', KeyType: 'HASH' },
          { AttributeName: 'sk', KeyType: 'RANGE' },
        ],
        globalSecondaryIndexes: [
          {
            IndexName: 'byDid',
            KeySchema: [
              { AttributeName: 'did', KeyType: 'HASH' },
              { AttributeName: 'at', KeyType: 'RANGE' },
            ],
            Projection: { ProjectionType: 'KEYS_ONLY' },
          },
        ],
        ttlAttribute: 'expiresAtSeconds',
      },
      {
        name: expect.stringMatching(/^Stateful-Audit/),
        attributeDefinitions: [{ AttributeName: 'pk', AttributeType: 'S' }],
        keySchema: [{ AttributeName: 'pk', KeyType: 'HASH' }],
        globalSecondaryIndexes: [],
      },
    ]);
  });

  test('queues have their redrive, event sources their limits, secrets their names', () => {
    expect(template.queues).toMatchObject([
      { name: 'dispatches-dead', visibilityTimeoutSeconds: 30, delaySeconds: 0, retentionSeconds: 1_209_600 },
      {
        name: 'dispatches',
        visibilityTimeoutSeconds: 360,
        delaySeconds: 3,
        retentionSeconds: 345_600,
        redrive: { deadLetterQueueName: 'dispatches-dead', maxReceiveCount: 5 },
      },
    ]);
    expect(template.queues[0]).not.toMatchObject({ redrive: expect.anything() });
    expect(template.eventSources).toEqual([
      {
        functionId: worker?.id,
        queueName: 'dispatches',
        batchSize: 10,
        windowSeconds: 1,
        maximumConcurrency: 20,
        reportBatchItemFailures: true,
      },
    ]);
    expect(template.secrets).toEqual([{ name: 'token-signing-keys' }]);
  });
});

test('the stacks of a stage are read too', () => {
  const template = read((app) => {
    const stack = new Stack(new Stage(app, 'Production'), 'State');
    new Queue(stack, 'Dispatches', { queueName: 'dispatches' });
  });
  expect(template.queues).toMatchObject([{ name: 'dispatches' }]);
});

test('without reportBatchItemFailures, limits and window the defaults of Lambda hold; a disabled mapping is none', () => {
  const template = read((app) => {
    const stack = new Stack(app, 'App');
    const worker = lambdaFunction(stack, 'Worker');
    worker.addEventSource(new SqsEventSource(new Queue(stack, 'Dispatches', { queueName: 'dispatches' })));
    worker.addEventSource(new SqsEventSource(new Queue(stack, 'Idle', { queueName: 'idle' }), { enabled: false }));
  });
  expect(template.eventSources).toEqual([
    {
      functionId: expect.stringMatching(/^App\.Worker/),
      queueName: 'dispatches',
      batchSize: 10,
      windowSeconds: 0,
      reportBatchItemFailures: false,
    },
  ]);
});

describe('what cannot be resolved or run is an error that names the place', () => {
  const workerWith = (value: (stack: Stack) => string) => (app: Parameters<typeof twoStacks>[0]) => {
    const stack = new Stack(app, 'App');
    lambdaFunction(stack, 'Worker', { BROKEN_VARIABLE: value(stack) });
  };
  test.each<[string, Parameters<typeof synthesized>[0], RegExp]>([
    [
      'an attribute that the local stack does not have',
      workerWith((stack) => new CfnResource(stack, 'Bus', { type: 'AWS::Events::EventBus' }).getAtt('Arn').toString()),
      /^App Worker\w+\.Environment\.Variables\.BROKEN_VARIABLE: Fn::GetAtt Bus\.Arn \(AWS::Events::EventBus\) has no value/,
    ],
    [
      'a dynamic reference',
      workerWith(() => '{{resolve:secretsmanager:name}}'),
      /^App Worker\w+\.Environment\.Variables\.BROKEN_VARIABLE: dynamic references are not resolved/,
    ],
    [
      'an export that leads to something unresolvable',
      (app) => {
        const first = new Stack(app, 'First');
        const bus = new CfnResource(first, 'Bus', { type: 'AWS::Events::EventBus' });
        new CfnOutput(first, 'BusArn', { value: bus.getAtt('Arn').toString(), exportName: 'bus' });
        workerWith(() => Fn.importValue('bus'))(app);
      },
      /^First Outputs \(imported as bus by App Worker\w+\.Environment\.Variables\.BROKEN_VARIABLE\): Fn::GetAtt Bus\.Arn/,
    ],
    [
      'inline code',
      (app) => {
        const code = Code.fromInline('exports.handler = async () => undefined');
        new LambdaFunction(new Stack(app, 'App'), 'Inline', {
          runtime: Runtime.NODEJS_24_X,
          handler: 'index.handler',
          code,
        });
      },
      /^App Inline\w+\.Code\.S3Key: code must be an asset/,
    ],
    [
      'a resource with a condition',
      (app) => {
        const stack = new Stack(app, 'App');
        const expression = Fn.conditionEquals(stack.region, 'eu-west-1');
        new CfnQueue(stack, 'Dispatches').cfnOptions.condition = new CfnCondition(stack, 'InEurope', { expression });
      },
      /App\.template\.json is not what cdk synth writes: Resources\.Dispatches\.Condition the local stack knows no conditions$/,
    ],
    [
      'a local secondary index',
      (app) =>
        new Table(new Stack(app, 'App'), 'Rows', {
          partitionKey: { name: 'pk', type: AttributeType.STRING },
          sortKey: { name: 'sk', type: AttributeType.STRING },
        }).addLocalSecondaryIndex({ indexName: 'other', sortKey: { name: 'at', type: AttributeType.STRING } }),
      /^App Rows\w+\.LocalSecondaryIndexes: the local stack does not run local secondary indexes$/,
    ],
    [
      'an alias that leads to two versions',
      (app) => {
        const routingConfig = { additionalVersionWeights: [{ functionVersion: '1', functionWeight: 0.1 }] };
        const { functionName } = lambdaFunction(new Stack(app, 'App'), 'Worker');
        const stack = app.node.findChild('App');
        new CfnAlias(stack, 'Live', { functionName, name: 'live', functionVersion: '2', routingConfig });
      },
      /^App Live\.RoutingConfig: the local stack does not run aliases that lead to two versions$/,
    ],
    [
      'an event source for an alias that is not in the app',
      (app) => {
        const stack = new Stack(app, 'App');
        const eventSourceArn = new Queue(stack, 'Dispatches').queueArn;
        const { functionName } = lambdaFunction(stack, 'Worker');
        new CfnEventSourceMapping(stack, 'Mapping', { functionName: `${functionName}:old`, eventSourceArn });
      },
      /^App Mapping: App-Worker\w+:old is no function of the app$/,
    ],
    [
      'an event source for a function that is not in the app',
      (app) => {
        const stack = new Stack(app, 'App');
        const eventSourceArn = new Queue(stack, 'Dispatches').queueArn;
        new CfnEventSourceMapping(stack, 'Mapping', { functionName: 'stranger', eventSourceArn });
      },
      /^App Mapping: stranger is no function of the app$/,
    ],
  ])('%s', (_, build, message) => {
    expect(() => read(build)).toThrow(message);
  });
});

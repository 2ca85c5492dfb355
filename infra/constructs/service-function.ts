import { ArnFormat, Duration, Stack, Validations } from 'aws-cdk-lib';
import type { Table } from 'aws-cdk-lib/aws-dynamodb';
import { PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import {
  Alias,
  Architecture,
  Code,
  type IFunction,
  type IVersion,
  Function as LambdaFunction,
  RecursiveLoop,
  Runtime,
} from 'aws-cdk-lib/aws-lambda';
import { SqsEventSource } from 'aws-cdk-lib/aws-lambda-event-sources';
import { LogGroup } from 'aws-cdk-lib/aws-logs';
import { Construct } from 'constructs';
import type { Consumption, FunctionShape, TableVerb } from '../function-shapes/shape.ts';
import { keyUse } from '../key-use.ts';
import { functionLogGroupName, resourceName } from '../names.ts';
import type { Settings } from '../settings.ts';
import type { QueueWithDeadLetters } from './queue-with-dead-letters.ts';

export interface ServiceFunctionProps {
  readonly settings: Settings;
  readonly name: string;
  readonly shape: FunctionShape;
  /** The folder holds `index.mjs`, which exports `handler`. */
  readonly bundleDirectory: string;
  readonly environment: Readonly<Record<string, string>>;
}

/**
 * The function has its own role and log group. The role may at first only write its own log; each method below adds one
 * permission and its environment variable.
 */
export class ServiceFunction extends Construct {
  readonly lambda: LambdaFunction;
  /** Callers use the alias `live` when new versions are tried on few calls first. */
  readonly alias: Alias | undefined;

  constructor(scope: Construct, id: string, props: ServiceFunctionProps) {
    super(scope, id);
    const { settings, name, shape } = props;
    const functionName = resourceName(settings.stage, name);
    // The log group belongs to the stateful stack, because logs outlive functions.
    const logGroupName = functionLogGroupName(settings.stage, name);
    const logGroup = LogGroup.fromLogGroupName(this, 'Log', logGroupName);
    // The CDK's default role may write every log of the account.
    const role = new Role(this, 'Role', { assumedBy: new ServicePrincipal('lambda.amazonaws.com') });
    logGroup.grantWrite(role);
    Validations.of(role).acknowledge({
      id: `AwsSolutions-IAM5[Resource::arn:<AWS::Partition>:logs:<AWS::Region>:<AWS::AccountId>:log-group:${logGroupName}:*]`,
      reason: 'The streams of its own log group: Lambda names them, one for each process.',
    });
    const consumed = shape.consumes?.queue;
    this.lambda = new LambdaFunction(this, 'Function', {
      functionName,
      runtime: Runtime.NODEJS_24_X,
      architecture: Architecture.ARM_64,
      code: Code.fromAsset(props.bundleDirectory),
      handler: 'index.handler',
      timeout: Duration.seconds(shape.timeoutSeconds),
      memorySize: shape.memoryMb,
      environment: { ...props.environment },
      ...(shape.reservedConcurrency === undefined
        ? {}
        : { reservedConcurrentExecutions: settings[shape.reservedConcurrency] }),
      role,
      logGroup,
      // A worker sends work to its own queue on purpose (next page, later attempt). By default Lambda drops the message
      // as a runaway loop after some sixteen rounds.
      ...(consumed !== undefined && shape.sendsTo?.includes(consumed) ? { recursiveLoop: RecursiveLoop.ALLOW } : {}),
    });
    Validations.of(this.lambda).acknowledge(
      {
        id: 'Serverless-LambdaDLQ',
        reason:
          'It concerns asynchronous calls only. The gateway and the queues call synchronously; queues have their own. What a schedule calls has an alarm, and the next run makes good for the last.',
      },
      {
        id: 'Serverless-LambdaTracing',
        reason:
          'Tracing needs rights on every resource (*). Log lines carry request, dispatch and message ids instead.',
      },
    );
    if (settings.encryptionKeyArn !== undefined) this.useKey(settings.encryptionKeyArn, shape);
    if (shape.canary === undefined) return;
    this.alias = new Alias(this, 'Live', { aliasName: 'live', version: this.lambda.currentVersion as IVersion });
  }

  get called(): IFunction {
    return (this.alias ?? this.lambda) as IFunction;
  }

  useTable(table: Table, variable: string, verbs: readonly TableVerb[]): void {
    this.allow(
      verbs.map((verb) => `dynamodb:${verb}`),
      table.tableArn,
    );
    this.lambda.addEnvironment(variable, table.tableName);
  }

  readSecret(secret: { readonly arn: string; readonly name: string }, variable: string): void {
    this.allow(['secretsmanager:GetSecretValue'], secret.arn);
    this.lambda.addEnvironment(variable, secret.name);
  }

  /**
   * This includes names with a suffix of a hyphen and two characters, from provisioning. Secrets Manager appends a
   * hyphen and six characters.
   */
  readSecretGroups(secret: { readonly name: string }): void {
    const resourceName = `${secret.name}-??-??????`;
    const arn = Stack.of(this).formatArn({
      service: 'secretsmanager',
      resource: 'secret',
      resourceName,
      arnFormat: ArnFormat.COLON_RESOURCE_NAME,
    });
    this.allow(['secretsmanager:GetSecretValue'], arn);
  }

  sendTo({ queue, variable }: QueueWithDeadLetters): void {
    this.allow(['sqs:SendMessage'], queue.queueArn);
    this.lambda.addEnvironment(variable, queue.queueUrl);
  }

  consume({ queue, variable }: QueueWithDeadLetters, how: Consumption & { readonly maximumConcurrency: number }): void {
    if (how.postpones) this.lambda.addEnvironment(variable, queue.queueUrl);
    Validations.of(this.called).acknowledge({
      id: 'Serverless-LambdaEventSourceMappingDestination',
      reason: 'Lambda has no failure destination for queues: the redrive policy of the queue does that work.',
    });
    this.called.addEventSource(
      new SqsEventSource(queue, {
        batchSize: how.batchSize,
        maxBatchingWindow: how.windowSeconds === undefined ? undefined : Duration.seconds(how.windowSeconds),
        maxConcurrency: how.maximumConcurrency,
        // Without this, Lambda would ignore which messages must come again, and their work would be lost.
        reportBatchItemFailures: true,
      }),
    );
  }

  /** Allows the key only through the services whose data it encrypts; the function itself never calls KMS. */
  private useKey(keyArn: string, { tables, secrets, sendsTo, consumes }: FunctionShape): void {
    const services = [
      ...(tables === undefined ? [] : ['dynamodb']),
      ...(secrets === undefined ? [] : ['secretsmanager']),
      ...(sendsTo === undefined && consumes === undefined ? [] : ['sqs']),
    ];
    if (services.length > 0) this.lambda.addToRolePolicy(keyUse(keyArn, services));
  }

  private allow(actions: string[], resourceArn: string): void {
    this.lambda.addToRolePolicy(new PolicyStatement({ actions, resources: [resourceArn] }));
  }
}

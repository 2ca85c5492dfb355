import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { acceptedPart, fitToEmulator } from '../../../infra/operate/stage/emulator/assembly.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'assembly-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const template = {
  Description: 'kept',
  Resources: {
    Table: { Type: 'AWS::DynamoDB::Table', DeletionPolicy: 'Retain', Properties: { TableName: 'x' } },
    Alarm: { Type: 'AWS::CloudWatch::CompositeAlarm' },
    Policy: { Type: 'AWS::SQS::QueuePolicy' },
    Group: { Type: 'AWS::CodeDeploy::DeploymentGroup' },
    Alias: {
      Type: 'AWS::Lambda::Alias',
      DependsOn: ['Alarm', 'Table'],
      UpdatePolicy: { CodeDeployLambdaAliasUpdate: { DeploymentGroupName: { Ref: 'Group' } } },
      Properties: { Name: 'live' },
    },
    Rule: { Type: 'AWS::Events::Rule', DependsOn: 'Group' },
  },
  Outputs: { ApiUrl: { Value: 'x' }, Name: { Value: { Ref: 'Table' } } },
};

it('leaves out what the emulator refuses, and what leads there, and nothing else', () => {
  expect(acceptedPart(template)).toEqual({
    Description: 'kept',
    Resources: {
      Table: template.Resources.Table,
      Alias: { Type: 'AWS::Lambda::Alias', DependsOn: ['Table'], Properties: { Name: 'live' } },
      Rule: { Type: 'AWS::Events::Rule' },
    },
    Outputs: template.Outputs,
  });
});

it('asks for the ARN of a secret where both say it', () => {
  const Resources = { Secret: { Type: 'AWS::SecretsManager::Secret' }, ...template.Resources };
  const Outputs = { Arn: { Value: { Ref: 'Secret' } }, Name: { Value: { Ref: 'Table' } } };
  expect(acceptedPart({ Resources, Outputs }).Outputs).toEqual({
    Arn: { Value: { 'Fn::GetAtt': ['Secret', 'Id'] } },
    Name: Outputs.Name,
  });
});

it('gives the right to a batch with the right to one, and leaves other rights', () => {
  const allowing = (...actions: (string | string[])[]) => ({
    Resources: {
      Role: {
        Type: 'AWS::IAM::Policy',
        Properties: { PolicyDocument: { Statement: actions.map((Action) => ({ Action, Effect: 'Allow' })) } },
      },
    },
  });
  expect(acceptedPart(allowing('sqs:SendMessage', ['sqs:GetQueueUrl'], 'dynamodb:GetItem'))).toEqual(
    allowing(['sqs:SendMessage', 'sqs:SendMessageBatch'], ['sqs:GetQueueUrl'], 'dynamodb:GetItem'),
  );
  const some = ['sqs:ReceiveMessage', 'sqs:ChangeMessageVisibility', 'sqs:DeleteMessage'];
  expect(acceptedPart(allowing(some))).toEqual(
    allowing([...some, 'sqs:ChangeMessageVisibilityBatch', 'sqs:DeleteMessageBatch']),
  );
});

it('has fewer workers, and shows again sooner what a deleted one held, but not before its time is over', () => {
  const sized = (MaximumConcurrency: number, VisibilityTimeout: number) => ({
    Resources: {
      Source: {
        Type: 'AWS::Lambda::EventSourceMapping',
        Properties: { BatchSize: 10, ScalingConfig: { MaximumConcurrency } },
      },
      Queue: { Type: 'AWS::SQS::Queue', Properties: { VisibilityTimeout, MessageRetentionPeriod: 864_000 } },
    },
  });
  expect(acceptedPart(sized(200, 360))).toEqual(sized(8, 90));
  expect(acceptedPart(sized(2, 1_800))).toEqual(sized(2, 450));
});

it('rewrites templates, and how the CDK reaches the account, and no other file of an assembly', () => {
  const deployment = { file: 'x.template.json', assumeRoleArn: 'arn:role', assumeRoleExternalId: 'id' };
  const manifest = {
    artifacts: { Stateful: { properties: { ...deployment, cloudFormationExecutionRoleArn: 'arn:role' } } },
  };
  const files = {
    'Stateful.template.json': template,
    'Stateful.assets.json': { files: { one: { destinations: { here: { bucketName: 'b', ...deployment } } } } },
    'manifest.json': { ...manifest, lookupRole: { arn: 'arn:role' } },
    'tree.json': deployment,
  };
  for (const [name, content] of Object.entries(files)) writeFileSync(join(folder, name), JSON.stringify(content));
  mkdirSync(join(folder, 'asset.one'));
  fitToEmulator(folder);
  const written = (name: string) => JSON.parse(readFileSync(join(folder, name), 'utf8'));
  expect(written('Stateful.template.json')).toEqual(acceptedPart(template));
  expect(written('Stateful.assets.json')).toEqual({
    files: { one: { destinations: { here: { bucketName: 'b', file: 'x.template.json' } } } },
  });
  expect(written('manifest.json')).toEqual({ artifacts: { Stateful: { properties: { file: 'x.template.json' } } } });
  expect(written('tree.json')).toEqual(deployment);
});

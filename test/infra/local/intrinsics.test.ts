// biome-ignore-all lint/suspicious/noTemplateCurlyInString: Fn::Sub is written like that
import { describe, expect, test } from 'vitest';
import type { Stack } from '../../../infra/local/cdk-assembly.ts';
import { Intrinsics } from '../../../infra/local/intrinsics.ts';

const stack: Stack = {
  name: 'App',
  resources: { Jobs: { Type: 'AWS::SQS::Queue' } },
  parameters: {
    Level: { Type: 'String', Default: 'high' },
    Version: { Type: 'AWS::SSM::Parameter::Value<String>', Default: '/v' },
  },
  conditions: { Holds: { 'Fn::Equals': [{ Ref: 'Level' }, 'high'] }, Fails: { 'Fn::Not': [{ Condition: 'Holds' }] } },
  mappings: { Sizes: { high: { memory: 512 } } },
  outputs: [{ value: { Ref: 'Jobs' }, exportName: { 'Fn::Sub': '${AWS::StackName}-jobs' } }],
};
const intrinsics = new Intrinsics([stack], (_, logicalId, attribute) =>
  attribute === 'Unknown' ? undefined : `<${logicalId}${attribute === undefined ? '' : `:${attribute}`}>`,
);
const resolve = (value: unknown) => intrinsics.resolve(value, { stack, path: 'Worker.Environment' });

describe('resolves', () => {
  test.each<[unknown, unknown]>([
    [{ Ref: 'Jobs' }, '<Jobs>'],
    [{ Ref: 'Level' }, 'high'],
    [{ Ref: 'AWS::Region' }, 'us-east-1'],
    [{ Ref: 'AWS::StackName' }, 'App'],
    [{ 'Fn::GetAtt': ['Jobs', 'Arn'] }, '<Jobs:Arn>'],
    [{ 'Fn::GetAtt': 'Jobs.Nested.Arn' }, '<Jobs:Nested.Arn>'],
    [{ 'Fn::ImportValue': 'App-jobs' }, '<Jobs>'],
    [{ 'Fn::Join': ['-', ['a', { Ref: 'Jobs' }, 1]] }, 'a-<Jobs>-1'],
    [{ 'Fn::Select': ['1', { 'Fn::Split': [':', 'a:b:c'] }] }, 'b'],
    [{ 'Fn::Sub': '${Jobs}/${Jobs.Arn}/${AWS::AccountId}/${!Jobs}' }, '<Jobs>/<Jobs:Arn>/000000000000/${Jobs}'],
    [{ 'Fn::Sub': ['${own} ${Level}', { own: { Ref: 'Jobs' } }] }, '<Jobs> high'],
    [{ 'Fn::If': ['Holds', 'yes', 'no'] }, 'yes'],
    [{ 'Fn::If': ['Fails', 'yes', 'no'] }, 'no'],
    [{ 'Fn::FindInMap': ['Sizes', { Ref: 'Level' }, 'memory'] }, 512],
    [{ 'Fn::And': [{ Condition: 'Holds' }, { Condition: 'Fails' }] }, false],
    [{ 'Fn::Or': [{ Condition: 'Holds' }, { Condition: 'Fails' }] }, true],
    [
      { kept: 1, left: { Ref: 'AWS::NoValue' }, list: [{ Ref: 'AWS::NoValue' }, 'a'] },
      { kept: 1, list: ['a'] },
    ],
    [
      { Ref: 'a', also: 'b' },
      { Ref: 'a', also: 'b' },
    ],
  ])('%j', (value, expected) => {
    expect(resolve(value)).toEqual(expected);
  });
});

describe('refuses, naming the place', () => {
  test.each<[unknown, string]>([
    [{ Ref: 'Nothing' }, 'the stack does not define Nothing'],
    [{ Ref: 'Version' }, 'the stack does not define Version'],
    [
      { 'Fn::GetAtt': ['Jobs', 'Unknown'] },
      'Fn::GetAtt Jobs.Unknown (AWS::SQS::Queue) has no value on the local stack',
    ],
    [{ 'Fn::ImportValue': 'Other-jobs' }, 'no stack exports Other-jobs'],
    [{ 'Fn::Join': ['', [{ Ref: 'AWS::NoValue' }, { a: 1 }]] }, 'expected text, found {"a":1}'],
    [{ 'Fn::Join': ['', 'text'] }, 'expected a list, found "text"'],
    [{ 'Fn::Select': [3, ['a']] }, 'Fn::Select points past the end of its list'],
    [{ 'Fn::Select': [3] }, 'expected two arguments, found [3]'],
    [{ 'Fn::Sub': '${Nothing.Arn}' }, 'the stack does not define Nothing'],
    [{ 'Fn::If': ['Nothing', 1, 2] }, 'the stack does not define condition Nothing'],
    [{ 'Fn::FindInMap': ['Sizes', 'low', 'memory'] }, 'Fn::FindInMap finds nothing'],
    [{ 'Fn::Cidr': [] }, 'Fn::Cidr is not known to the local stack'],
  ])('%j', (value, reason) => {
    expect(() => resolve({ NAME: value })).toThrow(new Error(`App Worker.Environment.NAME: ${reason}`));
  });
});

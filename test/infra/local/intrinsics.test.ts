// biome-ignore-all lint/suspicious/noTemplateCurlyInString: Fn::Sub is written like that
import { describe, expect, test } from 'vitest';
import type { Stack } from '../../../infra/local/cdk-assembly.ts';
import { Intrinsics } from '../../../infra/local/intrinsics.ts';

const stack: Stack = {
  name: 'App',
  resources: { Jobs: { Type: 'AWS::SQS::Queue' } },
  outputs: [{ value: { Ref: 'Jobs' }, exportName: 'App:jobs' }],
};
const intrinsics = new Intrinsics([stack], (_, logicalId, attribute) =>
  attribute === 'Unknown' ? undefined : `<${logicalId}${attribute === undefined ? '' : `:${attribute}`}>`,
);
const resolve = (value: unknown) => intrinsics.resolve(value, { stack, path: 'Worker.Environment' });

describe('resolves', () => {
  test.each<[unknown, unknown]>([
    [{ Ref: 'Jobs' }, '<Jobs>'],
    [{ Ref: 'AWS::Region' }, 'us-east-1'],
    [{ 'Fn::GetAtt': ['Jobs', 'Arn'] }, '<Jobs:Arn>'],
    [{ 'Fn::ImportValue': 'App:jobs' }, '<Jobs>'],
    [{ 'Fn::Join': ['-', ['a', { Ref: 'Jobs' }, 1]] }, 'a-<Jobs>-1'],
    [{ 'Fn::Select': ['1', { 'Fn::Split': [':', 'a:b:c'] }] }, 'b'],
    [{ 'Fn::Sub': '${Jobs}/${AWS::AccountId}' }, '<Jobs>/000000000000'],
    [{ kept: [1, { Ref: 'Jobs' }] }, { kept: [1, '<Jobs>'] }],
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
    [{ Ref: 'AWS::NoValue' }, 'the stack does not define AWS::NoValue'],
    [
      { 'Fn::GetAtt': ['Jobs', 'Unknown'] },
      'Fn::GetAtt Jobs.Unknown (AWS::SQS::Queue) has no value on the local stack',
    ],
    [{ 'Fn::GetAtt': 'Jobs.Arn' }, 'expected two arguments, found "Jobs.Arn"'],
    [{ 'Fn::ImportValue': 'Other:jobs' }, 'no stack exports Other:jobs'],
    [{ 'Fn::Join': ['', [{ a: 1 }]] }, 'expected text, found {"a":1}'],
    [{ 'Fn::Join': ['', 'text'] }, 'expected a list, found "text"'],
    [{ 'Fn::Select': [3, ['a']] }, 'Fn::Select points past the end of its list'],
    [{ 'Fn::Select': [3] }, 'expected two arguments, found [3]'],
    [{ 'Fn::Sub': '${!Jobs}' }, 'the stack does not define !Jobs'],
    [{ 'Fn::Sub': ['${own}', { own: 'a' }] }, 'expected text, found ["${own}",{"own":"a"}]'],
    [{ 'Fn::If': ['Holds', 1, 2] }, 'Fn::If is not known to the local stack'],
  ])('%j', (value, reason) => {
    expect(() => resolve({ NAME: value })).toThrow(new Error(`App Worker.Environment.NAME: ${reason}`));
  });
});

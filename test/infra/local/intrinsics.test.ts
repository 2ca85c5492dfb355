// biome-ignore-all lint/suspicious/noTemplateCurlyInString: Fn::Sub is written like that
import { describe, expect, test } from 'vitest';
import type { Stack } from '../../../infra/local/cdk-assembly.ts';
import { Intrinsics } from '../../../infra/local/intrinsics.ts';

const stack: Stack = {
  name: 'App',
  resources: { Dispatches: { Type: 'AWS::SQS::Queue' } },
  outputs: [{ value: { Ref: 'Dispatches' }, exportName: 'App:dispatches' }],
};
const intrinsics = new Intrinsics([stack], (_, logicalId, attribute) =>
  attribute === 'Unknown' ? undefined : `<${logicalId}${attribute === undefined ? '' : `:${attribute}`}>`,
);
const resolve = (value: unknown) => intrinsics.resolve(value, { stack, path: 'Worker.Environment' });

describe('resolves', () => {
  test.each<[unknown, unknown]>([
    [{ Ref: 'Dispatches' }, '<Dispatches>'],
    [{ Ref: 'AWS::Region' }, 'us-east-1'],
    [{ 'Fn::GetAtt': ['Dispatches', 'Arn'] }, '<Dispatches:Arn>'],
    [{ 'Fn::ImportValue': 'App:dispatches' }, '<Dispatches>'],
    [{ 'Fn::Join': ['-', ['a', { Ref: 'Dispatches' }, 1]] }, 'a-<Dispatches>-1'],
    [{ 'Fn::Select': ['1', { 'Fn::Split': [':', 'a:b:c'] }] }, 'b'],
    [{ 'Fn::Sub': '${Dispatches}/${AWS::AccountId}' }, '<Dispatches>/000000000000'],
    [{ kept: [1, { Ref: 'Dispatches' }] }, { kept: [1, '<Dispatches>'] }],
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
      { 'Fn::GetAtt': ['Dispatches', 'Unknown'] },
      'Fn::GetAtt Dispatches.Unknown (AWS::SQS::Queue) has no value on the local stack',
    ],
    [{ 'Fn::GetAtt': 'Dispatches.Arn' }, 'expected two arguments, found "Dispatches.Arn"'],
    [{ 'Fn::ImportValue': 'Other:dispatches' }, 'no stack exports Other:dispatches'],
    [{ 'Fn::Join': ['', [{ a: 1 }]] }, 'expected text, found {"a":1}'],
    [{ 'Fn::Join': ['', 'text'] }, 'expected a list, found "text"'],
    [{ 'Fn::Select': [3, ['a']] }, 'Fn::Select points past the end of its list'],
    [{ 'Fn::Select': [3] }, 'expected two arguments, found [3]'],
    [{ 'Fn::Sub': '${!Dispatches}' }, 'the stack does not define !Dispatches'],
    [{ 'Fn::Sub': ['${own}', { own: 'a' }] }, 'expected text, found ["${own}",{"own":"a"}]'],
    [{ 'Fn::If': ['Holds', 1, 2] }, 'Fn::If is not known to the local stack'],
  ])('%j', (value, reason) => {
    expect(() => resolve({ NAME: value })).toThrow(new Error(`App Worker.Environment.NAME: ${reason}`));
  });
});

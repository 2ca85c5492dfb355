import type { Stack } from './cdk-assembly.ts';
import { type Intrinsics, localAccountId, localRegion } from './intrinsics.ts';

const nameProperties: Readonly<Record<string, string>> = {
  'AWS::DynamoDB::Table': 'TableName',
  'AWS::DynamoDB::GlobalTable': 'TableName',
  'AWS::Lambda::Function': 'FunctionName',
  'AWS::SQS::Queue': 'QueueName',
  'AWS::SecretsManager::Secret': 'Name',
};

export const queueArn = (name: string): string => arn('sqs', name);
const functionArn = (name: string): string => arn('lambda', `function:${name}`);

/** The ARN has the real form: the name, a hyphen and six characters, because CDK parses the name out of it. */
export const secretArn = (name: string): string => arn('secretsmanager', `secret:${name}-local0`);

function arn(service: string, resource: string): string {
  return `arn:aws:${service}:${localRegion}:${localAccountId}:${resource}`;
}

/** Logical ids are unique only in their stack. */
export function qualifiedId(stack: Stack, logicalId: string): string {
  return `${stack.name}.${logicalId}`;
}

/** Returns the template's name, else a stable, unique one. An alias is `function:alias`. */
export function physicalName(intrinsics: Intrinsics, stack: Stack, logicalId: string): string {
  const resource = stack.resources[logicalId];
  const property = nameProperties[resource?.Type ?? ''];
  if (resource?.Type === 'AWS::Lambda::Alias') {
    const [functionName, alias] = ['FunctionName', 'Name'].map((each) =>
      intrinsics.resolve(resource.Properties?.[each], { stack, path: `${logicalId}.${each}` }),
    );
    return `${functionName}:${alias}`;
  }
  if (property === undefined) return qualifiedId(stack, logicalId);
  const given = intrinsics.resolve(resource?.Properties?.[property], { stack, path: `${logicalId}.${property}` });
  return typeof given === 'string' ? given : `${stack.name}-${logicalId}`;
}

/** Returns the local value of a named resource's `Ref` (no attribute) or `Fn::GetAtt`; undefined when there is none. */
export function physicalValue(
  resource: {
    readonly type: string;
    readonly id: string;
    readonly name: string;
    readonly attribute?: string | undefined;
  },
  queueUrl: (queueName: string) => string,
): string | undefined {
  const { type, id, name, attribute } = resource;
  switch (type) {
    case 'AWS::DynamoDB::Table':
    case 'AWS::DynamoDB::GlobalTable':
      return pick(attribute, { Ref: name, Arn: arn('dynamodb', `table/${name}`) });
    case 'AWS::Lambda::Function':
      return pick(attribute, { Ref: name, Arn: functionArn(name) });
    case 'AWS::Lambda::Alias':
      return pick(attribute, { Ref: functionArn(name) });
    case 'AWS::Lambda::Version':
      return pick(attribute, { Version: '1' });
    case 'AWS::SQS::Queue':
      return pick(attribute, { Ref: queueUrl(name), QueueUrl: queueUrl(name), QueueName: name, Arn: queueArn(name) });
    case 'AWS::SecretsManager::Secret':
      return pick(attribute, { Ref: secretArn(name), Id: secretArn(name) });
    case 'AWS::ApiGatewayV2::Integration':
    case 'AWS::ApiGatewayV2::Authorizer':
      return pick(attribute, { Ref: id });
    default:
      return undefined;
  }
}

function pick(attribute: string | undefined, values: Readonly<Record<string, string>>): string | undefined {
  return values[attribute ?? 'Ref'];
}

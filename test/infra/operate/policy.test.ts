import { App, Stack } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import { describe, expect, it } from 'vitest';
import { OperatorRoles } from '../../../infra/constructs/operator-roles.ts';
import { queuePurposes, resourceName, secretPurposes } from '../../../infra/names.ts';
import {
  actPolicy,
  commandRights,
  lookPolicy,
  mostPolicyCharacters,
  policyDocument,
} from '../../../infra/operate/stage/policy-document.ts';
import { tables } from '../../../infra/tables.ts';

const place = {
  ...{ stage: 'prod', account: '123456789012', region: 'eu-west-1' },
  ...{ partition: 'aws', urlSuffix: 'amazonaws.com' },
};
const arn = (service: string, resource: string) => `arn:aws:${service}:eu-west-1:123456789012:${resource}`;
const key = 'arn:aws:kms:eu-west-1:123456789012:key/1234abcd-12ab-34cd-56ef-1234567890ab';

describe('a policy', () => {
  it('names the resources of one stage and of no other', () => {
    expect(policyDocument(['events'], place)).toEqual({
      Version: '2012-10-17',
      Statement: [
        {
          Effect: 'Allow',
          Action: ['dynamodb:GetItem', 'dynamodb:Query'],
          Resource: [arn('dynamodb', 'table/template-messaging-prod-webhooks')],
        },
        {
          Effect: 'Allow',
          Action: ['dynamodb:PutItem'],
          Resource: [arn('dynamodb', 'table/template-messaging-prod-audit')],
        },
        {
          Effect: 'Allow',
          Action: ['sqs:GetQueueUrl', 'sqs:SendMessage'],
          Resource: [arn('sqs', 'template-messaging-prod-events')],
        },
      ],
    });
  });

  it('lets secrets be read with what AWS puts behind their names, and groups of credentials beside the first', () => {
    const resources = policyDocument(['provision'], place).Statement.flatMap(({ Resource }) => Resource);
    expect(resources).toContain(arn('secretsmanager', 'secret:template-messaging-prod-person-key-??????'));
    expect(resources).toContain(arn('secretsmanager', 'secret:template-messaging-prod-platform-credentials-*'));
  });

  it('says once what several commands share, and reaches both queues of a purpose', () => {
    const { Statement } = policyDocument(['redrive', 'events', 'audit'], place);
    const resources = Statement.flatMap(({ Resource }) => Resource);
    expect(new Set(resources).size).toBe(resources.length);
    const ofAudit = Statement.find(({ Resource }) => Resource.some((each) => each.endsWith('-audit')));
    expect(ofAudit?.Action).toEqual(['dynamodb:PutItem', 'dynamodb:Query']);
    const queues = Object.values(queuePurposes).flatMap((purpose) => [purpose, `${purpose}-dead`]);
    expect(resources).toEqual(
      expect.arrayContaining(queues.map((purpose) => arn('sqs', resourceName('prod', purpose)))),
    );
  });

  it('lets the key of a stage be used by way of the services alone that the commands reach', () => {
    expect(policyDocument(['rotate-keys'], { ...place, encryptionKeyArn: key }).Statement.at(-1)).toEqual({
      Effect: 'Allow',
      Action: ['kms:Decrypt', 'kms:DescribeKey', 'kms:Encrypt', 'kms:GenerateDataKey'],
      Resource: [key],
      Condition: {
        StringEquals: {
          'kms:ViaService': ['dynamodb.eu-west-1.amazonaws.com', 'secretsmanager.eu-west-1.amazonaws.com'],
        },
      },
    });
  });

  it('of the role that acts is no longer than AWS takes, on the longest stage, with a key', () => {
    const longest = { ...place, stage: 'a-stage-of-16-ch', region: 'ap-southeast-1', encryptionKeyArn: key };
    expect(JSON.stringify(actPolicy(longest)).length).toBeLessThan(mostPolicyCharacters);
    expect(actPolicy(longest)).toEqual(policyDocument(Object.keys(commandRights), longest));
  });

  it('of the role that looks changes nothing and reads no secret, but all else that the commands show', () => {
    const { Statement } = lookPolicy({ ...place, encryptionKeyArn: key });
    const actions = [...new Set(Statement.slice(0, -1).flatMap(({ Action }) => Action))].sort();
    expect(actions.filter((action) => !/:(?:BatchGetItem|Query|(?:Get|List|Describe)\w+)$/.test(action))).toEqual([]);
    expect(actions.filter((action) => action.startsWith('secretsmanager:'))).toEqual([]);
    const tablesRead = Statement.flatMap(({ Resource }) => Resource).filter((each) => each.includes(':table/'));
    const shown = ['audit', 'channels', 'directory', 'messages', 'rates', 'templates', 'webhooks'];
    expect(tablesRead.sort()).toEqual(shown.map((table) => arn('dynamodb', `table/${resourceName('prod', table)}`)));
    expect(Statement.at(-1)?.Condition).toEqual({
      StringEquals: { 'kms:ViaService': ['dynamodb.eu-west-1.amazonaws.com', 'sqs.eu-west-1.amazonaws.com'] },
    });
  });

  it('reaches nothing that is not a table, a secret or a queue of the stage, but for what check reads', () => {
    const others = Object.entries(commandRights).filter(([, { others: some }]) => some !== undefined);
    expect(others.map(([name]) => name)).toEqual(['check']);
    for (const { tables: some = {}, secrets = {} } of Object.values(commandRights)) {
      expect(Object.keys(tables)).toEqual(expect.arrayContaining(Object.keys(some)));
      expect(Object.keys(secretPurposes)).toEqual(expect.arrayContaining(Object.keys(secrets)));
    }
    for (const { actions } of commandRights['check']?.others ?? []) {
      for (const action of actions) expect(action).toMatch(/:(Describe|List|Get)/);
    }
  });
});

describe('the roles of operators', () => {
  it('are outputs of the stack by these names, for who is to assume them', () => {
    const stack = new Stack(new App(), 'Stack');
    new OperatorRoles(stack, 'Operators', { stage: 'prod', encryptionKeyArn: undefined });
    const outputs = Template.fromStack(stack).toJSON()['Outputs'];
    expect(Object.keys(outputs)).toEqual(['LookRole', 'ActRole']);
  });
});

import { describe, expect, it } from 'vitest';
import { queuePurposes, resourceName, secretPurposes } from '../../../infra/names.ts';
import { policyCommand } from '../../../infra/operate/policy.ts';
import { commandRights, mostPolicyCharacters, policyDocument } from '../../../infra/operate/policy-document.ts';
import { tables } from '../../../infra/tables.ts';
import { documentOf } from '../../support/documents.ts';

const place = { stage: 'prod', account: '123456789012', region: 'eu-west-1' };
const arn = (service: string, resource: string) => `arn:aws:${service}:eu-west-1:123456789012:${resource}`;
const key = 'arn:aws:kms:eu-west-1:123456789012:key/1234abcd-12ab-34cd-56ef-1234567890ab';

async function run(...typed: string[]) {
  const printed: string[] = [];
  const asked: unknown[] = [];
  const here = async (given: object) => {
    asked.push(given);
    return { account: place.account, region: place.region };
  };
  const error = await policyCommand(typed, { print: (text) => void printed.push(text), here }).catch(
    (reason: unknown) => reason,
  );
  return { printed, asked, error };
}

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

  it('is written for China and the government as well', () => {
    const { Statement } = policyDocument(['audit'], { ...place, region: 'us-gov-west-1' });
    expect(Statement[0]?.Resource[0]).toMatch(/^arn:aws-us-gov:/);
    const inChina = policyDocument(['doctor'], { ...place, region: 'cn-north-1' }).Statement;
    for (const resource of inChina.flatMap(({ Resource }) => Resource)) expect(resource).toMatch(/^(arn:aws-cn:|\*$)/);
  });

  it('of all commands together is no longer than AWS takes, on the longest stage, with a key', () => {
    const longest = { ...place, stage: 'a-stage-of-16-ch', region: 'ap-southeast-1', encryptionKeyArn: key };
    const { length } = JSON.stringify(policyDocument(Object.keys(commandRights), longest));
    expect(length).toBeLessThan(mostPolicyCharacters);
  });

  it('reaches nothing that is not a table, a secret or a queue of the stage, but for what doctor reads', () => {
    const others = Object.entries(commandRights).filter(([, { others: some }]) => some !== undefined);
    expect(others.map(([name]) => name)).toEqual(['doctor']);
    for (const { tables: some = {}, secrets = {} } of Object.values(commandRights)) {
      expect(Object.keys(tables)).toEqual(expect.arrayContaining(Object.keys(some)));
      expect(Object.keys(secretPurposes)).toEqual(expect.arrayContaining(Object.keys(secrets)));
    }
    for (const { actions } of commandRights['doctor']?.others ?? []) {
      for (const action of actions) expect(action).toMatch(/:(Describe|List|Get)/);
    }
  });
});

describe('npm run policy', () => {
  it('asks where the credentials lead when it is not told', async () => {
    const told = await run('audit', '--stage', 'prod', '--account', place.account, '--region', place.region);
    expect(told.asked).toEqual([]);
    const { printed, asked } = await run('audit', '--stage', 'prod', '--region', 'eu-west-1');
    expect(asked).toEqual([{ region: 'eu-west-1' }]);
    expect(printed).toEqual(told.printed);
    expect(JSON.parse(printed[0] ?? '')).toEqual(policyDocument(['audit'], place));
  });

  it('takes all', async () => {
    const { printed } = await run('all', '--stage', 'prod');
    expect(JSON.parse(printed[0] ?? '')).toEqual(policyDocument(Object.keys(commandRights), place));
  });

  it.each([
    [['--stage', 'prod'], 'npm run policy -- COMMAND'],
    [['audit'], '--stage is missing'],
    [['audit', 'smoke', '--stage', 'prod'], 'or all; not smoke'],
    [['audit', '--stage', 'Prod'], '--stage must be'],
    [['audit', '--stage', 'prod', '--account', '12'], '--account takes 12 digits, not 12'],
    [['audit', '--stage', 'prod', '--account', place.account, '--region', '*'], '--region takes a name such as'],
    [['audit', '--stage', 'prod', '--key', '*'], '--key takes the ARN of a key, not *'],
  ])('refuses %j', async (typed, message) => {
    const { printed, error } = await run(...typed);
    expect(printed).toEqual([]);
    expect(error).toMatchObject({ name: 'CommandError', exitStatus: 2, message: expect.stringContaining(message) });
  });

  it('the run book names its commands', () => {
    const text = documentOf('infra/operate/README.md');
    expect(text).toContain('npm run policy');
  });
});

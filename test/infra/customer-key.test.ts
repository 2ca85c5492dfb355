import { RootConstruct } from 'constructs';
import { describe, expect, it } from 'vitest';
import { functions } from '../../infra/functions.ts';
import { checkEncryptionKey, settingsFrom } from '../../infra/settings.ts';
import { encryptionKeyArn } from '../support/setting-choices.ts';
import { stacksOf } from '../support/stack-templates.ts';

/* The context value encryptionKeyArn changes these templates. */

const chosen = stacksOf('chosen');
const propertiesOf = (type: string) => chosen.all(type).map(({ properties }) => properties);

interface Statement {
  readonly Action: string | readonly string[];
  readonly Resource: unknown;
  readonly Condition?: { readonly StringEquals: { readonly 'kms:ViaService': readonly unknown[] } };
}
const statementsOf = (policy: { readonly PolicyDocument: { readonly Statement: readonly Statement[] } }) =>
  policy.PolicyDocument.Statement.filter(({ Action }) => [Action].flat().some((each) => each.startsWith('kms:')));

describe("the operator's key", () => {
  it('encrypts every table, queue, secret that provisioning fills, and log', () => {
    for (const table of propertiesOf('AWS::DynamoDB::Table')) {
      expect(table.SSESpecification).toEqual({ SSEEnabled: true, SSEType: 'KMS', KMSMasterKeyId: encryptionKeyArn });
    }
    for (const queue of propertiesOf('AWS::SQS::Queue')) expect(queue.KmsMasterKeyId).toBe(encryptionKeyArn);
    for (const log of propertiesOf('AWS::Logs::LogGroup')) expect(log.KmsKeyId).toBe(encryptionKeyArn);
    const filled = propertiesOf('AWS::SecretsManager::Secret').filter(({ Name }) => !Name.includes('edge-key'));
    for (const secret of filled) expect(secret.KmsKeyId).toBe(encryptionKeyArn);
    expect(filled.length).toBeGreaterThan(3);
  });

  it('may be used by each function by way of the services whose data it touches, and of no other', () => {
    const roles = propertiesOf('AWS::IAM::Policy').filter((policy) => statementsOf(policy).length > 0);
    const touching = Object.values(functions).filter(
      ({ tables, secrets, sendsTo, consumes, onlyWith }) =>
        onlyWith !== 'rateSourceUrl' && [tables, secrets, sendsTo, consumes].some((each) => each !== undefined),
    );
    expect(roles).toHaveLength(touching.length);
    for (const statement of roles.flatMap(statementsOf)) {
      expect(statement.Resource).toBe(encryptionKeyArn);
      // CDK itself grants only the right to read a consumed queue.
      if (statement.Condition === undefined) expect(statement.Action).toBe('kms:Decrypt');
      expect(JSON.stringify(statement.Action)).not.toContain('*');
    }
    const authorizer = roles.find(({ PolicyName }) => PolicyName.startsWith('Functionauthorizer'));
    expect(JSON.stringify(authorizer && statementsOf(authorizer))).toMatch(
      /"secretsmanager\."(?!.*(?:dynamodb|sqs)\.)/,
    );
  });

  it('may be used by the schedule that puts a walk into a queue', () => {
    const [schedule] = propertiesOf('AWS::IAM::Role').filter(({ Policies }) => Policies?.[0]?.PolicyName === 'send');
    expect(JSON.stringify(schedule?.Policies)).toContain('kms:GenerateDataKey');
  });

  it('is of nothing where it is not named', () => {
    expect(JSON.stringify([stacksOf('plain').stateful, stacksOf('plain').stateless])).not.toMatch(
      /kms:|KmsKeyId|KmsMaster/,
    );
  });

  it('of another region is refused', () => {
    const settings = settingsFrom(new RootConstruct().node);
    const named = { ...settings, encryptionKeyArn };
    expect(() => checkEncryptionKey(named, 'us-east-1')).toThrow(
      'names a key in eu-west-1, and the stacks go to us-east-1',
    );
    for (const region of ['eu-west-1', undefined]) expect(() => checkEncryptionKey(named, region)).not.toThrow();
  });
});

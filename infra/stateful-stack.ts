import { Aws, CfnCondition, Fn, RemovalPolicies, Stack, Validations } from 'aws-cdk-lib';
import { AttributeType, BillingMode, Table, TableEncryption } from 'aws-cdk-lib/aws-dynamodb';
import { type IKey, Key } from 'aws-cdk-lib/aws-kms';
import { LogGroup } from 'aws-cdk-lib/aws-logs';
import { CfnSecret } from 'aws-cdk-lib/aws-secretsmanager';
import type { Construct } from 'constructs';
import { PublicDomain } from './constructs/public-domain.ts';
import { QueueWithDeadLetters } from './constructs/queue-with-dead-letters.ts';
import { edgeKeysOf, edgeRegion } from './edge.ts';
import type { SecretVariable } from './function-shapes/shape.ts';
import { functions } from './functions.ts';
import { accessLogGroupName, functionLogGroupName, queuePurposes, resourceName, secretPurposes } from './names.ts';
import { type QueueName, queues } from './queues.ts';
import type { Settings } from './settings.ts';
import { type TableName, tables, timeToLiveAttribute } from './tables.ts';

/**
 * Tables, secrets, queues, logs and the public address outlive every deployment. Queues hold work that was promised
 * with a 200, so they are state. Resources are retained, except those of a failed creation, which `protected` would
 * block.
 */
export class StatefulStack extends Stack {
  readonly tables: Readonly<Record<TableName, Table>>;
  readonly secrets: Readonly<Record<SecretVariable, { readonly arn: string; readonly name: string }>>;
  private readonly encryptionKey: IKey | undefined;
  readonly queues: Readonly<Record<QueueName, QueueWithDeadLetters>>;

  constructor(scope: Construct, id: string, settings: Settings) {
    super(scope, id, {
      stackName: resourceName(settings.stage, 'stateful'),
      description: 'Template messaging: tables, secrets, queues and logs',
      terminationProtection: isProtected(settings),
    });
    const { encryptionKeyArn } = settings;
    this.encryptionKey =
      encryptionKeyArn === undefined ? undefined : Key.fromKeyArn(this, 'EncryptionKey', encryptionKeyArn);
    this.tables = mapValues(tables, (_, name) => this.addTable(settings, name));
    this.secrets = mapValues(secretPurposes, (purpose) => this.addSecret(settings, purpose));
    this.queues = mapValues(queuePurposes, (purpose, name) => this.addQueue(settings, name, purpose));
    this.addLogGroups(settings);
    this.addPublicDomain(settings);
    if (settings.edge) this.addEdgeKeys(settings);
    this.exportAll();
    RemovalPolicies.of(this).retainOnUpdateOrDelete();
  }

  private addTable(settings: Settings, name: TableName): Table {
    const shape = tables[name];
    return new Table(this, `Table-${name}`, {
      tableName: resourceName(settings.stage, name),
      partitionKey: { name: 'pk', type: AttributeType.STRING },
      ...(shape.sortKey ? { sortKey: { name: 'sk', type: AttributeType.STRING } } : {}),
      ...(shape.expires ? { timeToLiveAttribute } : {}),
      billingMode: BillingMode.PAY_PER_REQUEST,
      ...(this.encryptionKey === undefined
        ? { encryption: TableEncryption.AWS_MANAGED }
        : { encryption: TableEncryption.CUSTOMER_MANAGED, encryptionKey: this.encryptionKey }),
      pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: true },
      deletionProtection: isProtected(settings),
    });
  }

  /** The secret is empty until provisioning fills it; the higher-level construct would write a random password. */
  private addSecret(settings: Settings, purpose: string): { arn: string; name: string } {
    const name = resourceName(settings.stage, purpose);
    const secret = new CfnSecret(this, `Secret-${purpose}`, {
      name,
      kmsKeyId: this.encryptionKey?.keyArn,
    });
    Validations.of(secret).acknowledge({
      id: 'AwsSolutions-SMG4',
      reason:
        'Keys and platform tokens are rotated by the operator with an overlap; a blind schedule would cut it short.',
    });
    return { arn: secret.ref, name };
  }

  private addQueue(settings: Settings, name: QueueName, purpose: string): QueueWithDeadLetters {
    const consumer = Object.values(functions).find((shape) => shape.consumes?.queue === name);
    if (consumer === undefined) throw new Error(`no function in infra/functions.ts consumes the queue ${name}`);
    return new QueueWithDeadLetters(this, `Queue-${name}`, {
      settings,
      purpose,
      shape: queues[name],
      consumerTimeoutSeconds: consumer.timeoutSeconds,
      encryptionKey: this.encryptionKey,
    });
  }

  /** A log outlives its function, so functions that the settings leave out have one too. */
  private addLogGroups(settings: Settings): void {
    const names = Object.keys(functions).map((name) => [name, functionLogGroupName(settings.stage, name)] as const);
    for (const [id, logGroupName] of [...names, ['api-access', accessLogGroupName(settings.stage)] as const]) {
      new LogGroup(this, `Log-${id}`, {
        logGroupName,
        retention: settings.logRetentionDays,
        encryptionKey: this.encryptionKey,
      });
    }
  }

  private addPublicDomain({ domainName, certificateArn, hostedZoneId }: Settings): void {
    if (domainName === undefined || certificateArn === undefined) return;
    new PublicDomain(this, 'Domain', { domainName, certificateArn, hostedZoneId });
  }

  /**
   * Secrets Manager generates the keys, so no person sees them, and replicates them to CloudFront's region. A new
   * version is a new secret.
   */
  private addEdgeKeys(settings: Settings): void {
    const elsewhere = new CfnCondition(this, 'ElsewhereThanTheEdge', {
      expression: Fn.conditionNot(Fn.conditionEquals(Aws.REGION, edgeRegion)),
    });
    for (const name of edgeKeysOf(settings).taken) {
      const secret = new CfnSecret(this, `EdgeKey-${name}`, {
        name,
        generateSecretString: { passwordLength: 48, excludePunctuation: true },
        replicaRegions: Fn.conditionIf(elsewhere.logicalId, [{ Region: edgeRegion }], Aws.NO_VALUE),
      });
      Validations.of(secret).acknowledge({
        id: 'AwsSolutions-SMG4',
        reason: 'Edge and API have to change it in turn, which a deployment does (edgeKeyVersion).',
      });
    }
  }

  /**
   * Exports all that functions could use, used or not. An export made for one consumer would disappear with it, and
   * CloudFormation refuses that while the previous stateless stack still imports it.
   */
  private exportAll(): void {
    for (const table of Object.values(this.tables)) this.export(table.tableName, table.tableArn);
    for (const secret of Object.values(this.secrets)) this.export(secret.arn);
    for (const { queue, deadLetters } of Object.values(this.queues)) {
      this.export(queue.queueName, queue.queueArn, queue.queueUrl);
      this.export(deadLetters.queueName, deadLetters.queueArn);
    }
  }

  private export(...values: readonly string[]): void {
    for (const value of values) this.exportValue(value);
  }
}

function isProtected(settings: Settings): boolean {
  return settings.protected !== 'false';
}

function mapValues<Key extends string, From, To>(
  from: Readonly<Record<Key, From>>,
  change: (value: From, key: Key) => To,
): Record<Key, To> {
  const entries = Object.entries(from) as [Key, From][];
  return Object.fromEntries(entries.map(([key, value]) => [key, change(value, key)])) as Record<Key, To>;
}

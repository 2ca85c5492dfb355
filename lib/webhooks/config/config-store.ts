import { type DynamoDBDocumentClient, GetCommand, PutCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import * as v from 'valibot';
import { conditionalWrite } from '../../aws/conditional-write.ts';
import { configKey, deliveryKey } from '../items.ts';
import type { DisabledReason, WebhookConfig } from './config.ts';
import { type Failures, FailuresSchema } from './trouble.ts';

const ConfigItemSchema = v.object({
  clientId: v.number(),
  url: v.string(),
  active: v.boolean(),
  events: v.optional(v.array(v.string())),
  secrets: v.pipe(
    v.array(v.object({ sealed: v.string(), createdAtMs: v.number(), validUntilMs: v.optional(v.number()) })),
    v.minLength(1),
  ),
  version: v.number(),
  disabledReason: v.optional(v.picklist(['gone', 'failing'])),
  disabledAtMs: v.optional(v.number()),
  updatedAtMs: v.number(),
});

/** Each client has one item in the webhooks table. Reads are strongly consistent. */
export interface WebhookConfigs {
  findConfig(clientId: number): Promise<WebhookConfig | undefined>;
  /**
   * Makes a compare-and-set on the version. Returns undefined when written, else the newer configuration in the way.
   */
  replaceConfig(config: WebhookConfig): Promise<WebhookConfig | undefined>;
  /** Returns the noted failures of a client's receiver; undefined before the first delivery. */
  findFailures(clientId: number): Promise<Failures | undefined>;
  /** Forgets failures and pause of a client's deliveries. The lease stays, because an attempt may be in flight. */
  forgetFailures(clientId: number): Promise<void>;
  /**
   * Switches a configuration off for the service's own reason. Returns false when it has changed since this version, or
   * is off already.
   */
  switchOff(clientId: number, version: number, reason: DisabledReason, nowMs: number): Promise<boolean>;
}

export function webhookConfigStore(documentClient: DynamoDBDocumentClient, tableName: string): WebhookConfigs {
  return {
    findConfig: async (clientId) => {
      const get = new GetCommand({ TableName: tableName, Key: configKey(clientId), ConsistentRead: true });
      const { Item } = await documentClient.send(get);
      return Item === undefined ? undefined : v.parse(ConfigItemSchema, Item);
    },
    replaceConfig: async (config) => {
      const put = new PutCommand({
        TableName: tableName,
        Item: { ...configKey(config.clientId), ...config },
        ...(config.version === 1
          ? { ConditionExpression: 'attribute_not_exists(pk)' }
          : {
              ConditionExpression: 'version = :before',
              ExpressionAttributeValues: { ':before': config.version - 1 },
            }),
        ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
      });
      const write = await conditionalWrite(documentClient.send(put));
      if (write.written) return undefined;
      if (write.existing === undefined) throw new Error('a webhook configuration has vanished');
      return v.parse(ConfigItemSchema, write.existing);
    },
    findFailures: async (clientId) => {
      const get = new GetCommand({ TableName: tableName, Key: deliveryKey(clientId), ConsistentRead: true });
      const { Item } = await documentClient.send(get);
      return Item === undefined ? undefined : v.parse(FailuresSchema, Item);
    },
    forgetFailures: async (clientId) => {
      const update = new UpdateCommand({
        TableName: tableName,
        Key: deliveryKey(clientId),
        ConditionExpression: 'attribute_exists(pk)',
        // The new version fails the compare-and-set of a delivery that is about to write the old state.
        UpdateExpression:
          'REMOVE pausedUntilMs, consecutiveFailures, failingSinceMs, lastSuccessMs, width ADD version :one',
        ExpressionAttributeValues: { ':one': 1 },
      });
      await conditionalWrite(documentClient.send(update));
    },
    switchOff: async (clientId, version, reason, nowMs) => {
      const update = new UpdateCommand({
        TableName: tableName,
        Key: configKey(clientId),
        ConditionExpression: 'version = :version AND active = :on',
        UpdateExpression:
          'SET active = :off, disabledReason = :reason, disabledAtMs = :now, updatedAtMs = :now, version = :next',
        ExpressionAttributeValues: {
          ':version': version,
          ':next': version + 1,
          ':on': true,
          ':off': false,
          ':reason': reason,
          ':now': nowMs,
        },
        ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
      });
      const write = await conditionalWrite(documentClient.send(update));
      // The SDK retries a request whose reply was lost, so the conflict may be its own write.
      const { existing } = write.written ? {} : write;
      return write.written || (existing?.['version'] === version + 1 && existing['disabledAtMs'] === nowMs);
    },
  };
}

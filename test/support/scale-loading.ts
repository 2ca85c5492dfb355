import { BatchWriteCommand, type DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import type { ListedChannel } from '../../lib/channels/channel.ts';
import { goneAttributes, listedChannelKey } from '../../lib/channels/channel-item.ts';
import {
  type ProvisionedItem,
  provisionedChannels,
  provisionedItems,
} from '../../lib/provisioning/provisioned-items.ts';
import type { ProvisioningFile } from '../../lib/provisioning/provisioning-file.ts';
import { provisioningStore } from '../../lib/provisioning/provisioning-store.ts';
import type { Pair } from '../../lib/templates/assignments/pairs.ts';
import { factKey, rowKey } from '../../lib/templates/model/items.ts';
import { encodeDocuments, newRowAttributes, upstreamRowAttributes } from '../../lib/templates/model/row.ts';
import { packTemplate } from '../../lib/templates/model/stored-fact.ts';
import type { PlatformTemplate } from '../../lib/templates/model/template.ts';
import { templateKey } from '../../lib/templates/model/template-key.ts';
import { factValues } from '../../lib/templates/model/upstream-writes.ts';
import { storedChannel } from './channels.ts';

export interface LoadedTable {
  readonly documentClient: DynamoDBDocumentClient;
  readonly tableName: string;
}

/** Writes the directory of a provisioning file. */
export async function loadClients({ documentClient, tableName }: LoadedTable, file: ProvisioningFile): Promise<void> {
  await loadItems({ documentClient, tableName }, provisionedItems(file));
}

/** Writes items of one table as provisioning does. */
export async function loadItems(
  { documentClient, tableName }: LoadedTable,
  items: readonly ProvisionedItem[],
): Promise<void> {
  const run = await provisioningStore({ documentClient, tableName: () => tableName, nowMs: () => 0 }).begin('loading');
  await run.write(items.map(({ attributes, ...item }) => ({ ...item, set: attributes })));
  await run.end();
}

/** Leaves a channel as provisioning does after its file has lost it. */
export async function listAsDeleted(
  table: LoadedTable,
  { clientId, waId }: Pick<ListedChannel, 'clientId' | 'waId'>,
): Promise<void> {
  const key = listedChannelKey(clientId, waId);
  await loadItems(table, [{ table: 'channels', key, attributes: goneAttributes }]);
}

/** Writes the channels of a provisioning file as provisioning does. */
export async function provisionChannels(table: LoadedTable, file: ProvisioningFile): Promise<void> {
  await loadItems(table, provisionedChannels(file, '2026-11-20T12:00:00.000Z'));
}

/** The assignments have the index of their template. */
export interface LoadedTemplates {
  readonly wabaId: string;
  readonly clientId: number;
  readonly templates: readonly PlatformTemplate[];
  readonly assignments?: readonly (readonly Pair[])[];
}

const batchSize = 25;

/**
 * Fills an empty table with the items of a synchronization, several times as fast: without transactions and conditions.
 */
export async function loadTemplates(
  { documentClient, tableName }: LoadedTable,
  loaded: LoadedTemplates,
): Promise<void> {
  const items = loaded.templates.flatMap((template, index) => [
    () => factItem(loaded, template),
    () => rowItem(loaded, template, loaded.assignments?.[index] ?? []),
  ]);
  await putAll({ documentClient, tableName }, items);
}

export async function loadChannels(table: LoadedTable, channels: readonly ListedChannel[]): Promise<void> {
  await putAll(
    table,
    channels.map((channel) => () => storedChannel(channel)),
  );
}

async function putAll(
  { documentClient, tableName }: LoadedTable,
  items: readonly (() => Record<string, unknown>)[],
): Promise<void> {
  const batches = Array.from({ length: Math.ceil(items.length / batchSize) }, (_, index) =>
    items.slice(index * batchSize, (index + 1) * batchSize),
  );
  await fourAtATime(batches, async (batch) => {
    const requests = batch.map((itemOf) => ({ PutRequest: { Item: itemOf() } }));
    await documentClient.send(new BatchWriteCommand({ RequestItems: { [tableName]: requests } }));
  });
}

async function fourAtATime<T>(list: readonly T[], act: (item: T) => Promise<unknown>): Promise<void> {
  const waiting = list.values();
  const work = async () => {
    for (const item of waiting) await act(item);
  };
  await Promise.all([work(), work(), work(), work()]);
}

function factItem({ wabaId }: LoadedTemplates, template: PlatformTemplate): Record<string, unknown> {
  const write = { kind: 'present', wabaId, template, clientIds: [], readAtMs: 1 } as const;
  return { ...factKey(templateKey({ ...template, wabaId })), ...factValues(write, packTemplate(template)) };
}

function rowItem(
  { wabaId, clientId }: LoadedTemplates,
  template: PlatformTemplate,
  pairs: readonly Pair[],
): Record<string, unknown> {
  const documents = encodeDocuments(pairs.map((pair, sequence) => ({ sequence, pair })));
  return {
    ...rowKey(clientId, templateKey({ ...template, wabaId })),
    ...newRowAttributes,
    ...upstreamRowAttributes(wabaId, template).set,
    ...(pairs.length === 0 ? {} : { d: documents, k: pairs.length }),
  };
}

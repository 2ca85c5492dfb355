import { ScanCommand } from '@aws-sdk/lib-dynamodb';
import type { Target } from '../../infra/operate/target.ts';
import type { TableName } from '../../infra/tables.ts';
import { type SecretsInMemory, secretsInMemory } from './secrets.ts';
import { freshTable, localDocumentClient } from './stores.ts';

/** Makes a target of provisioning: fresh tables of its own, and secrets in memory. */
export async function provisioningTarget() {
  const names = {
    directory: await freshTable('directory'),
    credentials: await freshTable('credentials'),
    channels: await freshTable('channels'),
    messages: await freshTable('messages'),
  };
  const secrets = secretsInMemory();
  const target: Target = {
    documentClient: localDocumentClient(),
    secrets,
    tableName: (table: TableName) => names[table as keyof typeof names],
    secretName: (variable) => variable,
  };
  return { target, secrets };
}

/** Returns all items of a table, by their keys. */
export async function contentsOf({ documentClient, tableName }: Target, table: TableName) {
  const { Items = [] } = await documentClient.send(new ScanCommand({ TableName: tableName(table) }));
  return Items.toSorted((a, b) => `${a['pk']}${a['sk']}`.localeCompare(`${b['pk']}${b['sk']}`));
}

/** Returns all that provisioning writes: the items of its tables, and the secrets. */
export const provisionedIn = async (target: Target, secrets: SecretsInMemory) => ({
  directory: await contentsOf(target, 'directory'),
  channels: await contentsOf(target, 'channels'),
  credentials: await contentsOf(target, 'credentials'),
  secrets: [...secrets.texts].toSorted(),
});

/** Makes platform credentials of a provisioning file; 300 of them do not fit into one secret. */
export const someCredentials = (count: number) =>
  Array.from({ length: count }, (_, index) => ({
    name: `waba-${index}`,
    access_token: 'x'.repeat(250),
    app_id: '500000000000001',
  }));

import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { localRegion } from '../../infra/local/intrinsics.ts';
import type { RunningStack } from '../../infra/local/stack.ts';
import { createTables } from '../../infra/local/tables.ts';
import { resourceName } from '../../infra/names.ts';
import type { TableName } from '../../infra/tables.ts';
import { documentClient } from '../../lib/aws/dynamodb.ts';
import { assignmentsAtScale, clientsAtScale, templatesAtScale } from '../support/scale.ts';
import { type LoadedTable, loadClients, loadTemplates } from '../support/scale-loading.ts';

const seed = 20_261_121;

/** All figures about templates use these clients. The first client has the templates. */
export const directoryFile = clientsAtScale({ seed, clients: 20, channelsEach: 5, campaignsEach: 20 });
export const clientId = 1001;
export const wabaId = '200000000000001';

/** Returns the templates of the first client, and their assignments. */
export function templateData(count: number, bodyBytes: number) {
  return {
    templates: templatesAtScale({ seed, count, bodyBytes }),
    assignments: assignmentsAtScale(directoryFile, { seed, count, clientId }),
  };
}
export type TemplateData = ReturnType<typeof templateData>;

/** Each figure has tables of its own, in the stack's DynamoDB beside the stack's. */
export interface BenchTables {
  readonly directory: LoadedTable;
  readonly templates: LoadedTable;
}

/** Each caller gets a client of its own, so that its requests can be metered. */
export function clientOf({ addresses }: RunningStack) {
  const credentials = { accessKeyId: 'local', secretAccessKey: 'local' };
  return documentClient({ region: localRegion, credentials, endpoint: addresses.dynamodbEndpoint });
}

/** Makes an empty table in the stack's DynamoDB, with the keys of the stack's own. */
export async function benchTable(stack: RunningStack, name: string, table: TableName): Promise<LoadedTable> {
  const loading = clientOf(stack);
  const definition = stack.template.tables.find((each) => each.name === resourceName(stack.addresses.stage, table));
  if (definition === undefined) throw new Error(`the template has no table ${table}`);
  const tableName = `bench-${name}-${table}`;
  const { dynamodbEndpoint: endpoint, region } = stack.addresses;
  const client = new DynamoDBClient({ region, endpoint, credentials: loading.config.credentials });
  await createTables(client, [{ ...definition, name: tableName }]);
  client.destroy();
  return { documentClient: loading, tableName };
}

/** Makes the tables, and loads the directory and any templates. */
export async function benchTables(stack: RunningStack, name: string, data?: TemplateData): Promise<BenchTables> {
  const tables = {
    directory: await benchTable(stack, name, 'directory'),
    templates: await benchTable(stack, name, 'templates'),
  };
  await loadClients(tables.directory, directoryFile);
  if (data !== undefined) await loadTemplates(tables.templates, { wabaId, clientId, ...data });
  return tables;
}

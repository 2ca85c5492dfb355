import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { type TableAccess, transactWrite } from '../aws/dynamodb-batch.ts';
import { maxRepetitions, type Pause, storePause } from '../aws/pause.ts';
import { type BeforeCreation, type Creation, creationTransactions } from './creation.ts';
import { factFromItem, getAll } from './store.ts';
import { factKey, rowKey } from './upstream-writes.ts';

/** Stores created templates; see creation.ts for what it writes. */
export interface CreationStore {
  /** What stands under a key, strongly consistent: one round trip for up to 99 clients. */
  before(templateKey: string, clientIds: readonly number[]): Promise<BeforeCreation>;
  /** One transaction for up to 49 clients; when something has changed since `before`, it is read and planned again. */
  store(creation: Creation, before: BeforeCreation): Promise<void>;
}

export function creationStore(
  documentClient: DynamoDBDocumentClient,
  tableName: string,
  pause: Pause = storePause,
): CreationStore {
  const table: TableAccess = { documentClient, tableName, pause };
  const read = (templateKey: string, clientIds: readonly number[]) => readBefore(table, templateKey, clientIds);
  return {
    before: read,
    store: async (creation, before) => {
      let current = before;
      for (let attempt = 0; attempt <= maxRepetitions; attempt++) {
        if (attempt > 0) {
          await pause(attempt);
          current = await read(creation.templateKey, creation.clientIds);
        }
        if (await wroteAll(table, creationTransactions({ ...creation, tableName }, current))) return;
      }
      throw new Error(`the documents of ${creation.templateKey} stayed contended`);
    },
  };
}

async function wroteAll(table: TableAccess, transactions: ReturnType<typeof creationTransactions>): Promise<boolean> {
  for (const actions of transactions) {
    if ((await transactWrite(table, actions)) !== undefined) return false;
  }
  return true;
}

async function readBefore(
  table: TableAccess,
  templateKey: string,
  clientIds: readonly number[],
): Promise<BeforeCreation> {
  const keys = [factKey(templateKey), ...clientIds.map((clientId) => rowKey(clientId, templateKey))];
  const items = await getAll(table, keys, { consistent: true });
  const factItem = items.find((item) => item['sk'] === 'FACT');
  const rows = new Map(
    clientIds.flatMap((clientId) => {
      const { pk } = rowKey(clientId, templateKey);
      const item = items.find((each) => each['pk'] === pk && each !== factItem);
      return item === undefined ? [] : [[clientId, item] as const];
    }),
  );
  return factItem === undefined ? { rows } : { rows, fact: { item: factItem, fact: factFromItem(factItem).fact } };
}

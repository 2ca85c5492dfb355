import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import * as v from 'valibot';
import { batchGet, queryPartition, type TableAccess, transactWrite } from '../../aws/dynamodb-batch.ts';
import type { ItemKey } from '../../aws/item-key.ts';
import { maxRepetitions, type Pause, storePause } from '../../aws/pause.ts';
import { factKey, heldNameKey, rowKey, rowPartitions } from '../model/items.ts';
import { rowFromItem } from '../model/row.ts';
import { factFromItem } from '../model/template-store.ts';
import { type BeforeCreation, type Creation, creationTransactions } from './creation.ts';

export interface CreationStore {
  /** Returns the items of a name and language, strongly consistent: one round trip for up to 98 clients. */
  before(place: CreationPlace, clientIds: readonly number[]): Promise<BeforeCreation>;
  /**
   * Tells whether the WABA has a live template of this name in any language. One client's rows suffice, because all
   * clients have the same templates. For the rare held name it reads all rows.
   */
  nameIsLive(clientId: number, place: Pick<CreationPlace, 'wabaId' | 'name'>): Promise<boolean>;
  /** Stores in one transaction for up to 49 clients. After a conflict it reads and plans again. */
  store(creation: Creation, before: BeforeCreation): Promise<void>;
}

/** `templateKey` includes the language. */
export interface CreationPlace {
  readonly templateKey: string;
  readonly wabaId: string;
  readonly name: string;
}

export function creationStore(
  documentClient: DynamoDBDocumentClient,
  tableName: string,
  pause: Pause = storePause,
): CreationStore {
  const table: TableAccess = { client: documentClient, name: tableName, pause };
  const read = (place: CreationPlace, clientIds: readonly number[]) => readBefore(table, place, clientIds);
  return {
    before: read,
    nameIsLive: async (clientId, { wabaId, name }) => {
      const shards = await Promise.all(rowPartitions(clientId).map((partition) => queryPartition(table, partition)));
      const rows = shards.flat().map(rowFromItem);
      return rows.some((row) => !row.deleted && row.name === name && row.wabaId === wabaId);
    },
    store: async (creation, before) => {
      let current = before;
      for (let attempt = 0; attempt <= maxRepetitions; attempt++) {
        if (attempt > 0) {
          await pause(attempt);
          current = await read({ ...creation, name: creation.template.name }, creation.clientIds);
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
  place: CreationPlace,
  clientIds: readonly number[],
): Promise<BeforeCreation> {
  const { templateKey } = place;
  const [fact, name] = [factKey(templateKey), heldNameKey(place)];
  const keys = [fact, name, ...clientIds.map((clientId) => rowKey(clientId, templateKey))];
  const items = await batchGet(table, keys, { consistent: true });
  const under = ({ pk }: ItemKey) => items.find((item) => item['pk'] === pk);
  const factItem = under(fact);
  const nameItem = under(name);
  const rows = new Map(
    clientIds.flatMap((clientId) => {
      const { pk } = rowKey(clientId, templateKey);
      const item = items.find((each) => each['pk'] === pk && each['sk'] === templateKey);
      return item === undefined ? [] : [[clientId, item] as const];
    }),
  );
  return {
    rows,
    fact: factItem && { item: factItem, fact: factFromItem(factItem).fact },
    nameHeldUntilMs: nameItem && v.parse(HeldNameSchema, nameItem).heldUntilMs,
  };
}

const HeldNameSchema = v.object({ heldUntilMs: v.number() });

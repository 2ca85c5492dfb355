import { type DynamoDBDocumentClient, PutCommand } from '@aws-sdk/lib-dynamodb';
import { localTarget } from '../../../infra/operate/target.ts';
import { parameterPageAt } from '../../../lib/messages/accept/parameter-store.ts';
import { nextParameters } from '../../../lib/messages/dispatch/items.ts';
import { killed, pidsOf } from '../../proof/trial/kill.ts';
import type { LocalTrial } from '../../proof/trial/local-trial.ts';
import type { Dispatch } from '../../proof/trial/record.ts';
import { processOfPort } from './process-of-port.ts';

const sender = 'messages-dispatch';

/** Makes what is stored of a dispatch's recipients unreadable. Returns what makes it readable again. */
export async function poisonPages(trial: LocalTrial, dispatch: Dispatch): Promise<() => Promise<void>> {
  const { addresses } = trial.stack;
  const { documentClient, tableName } = localTarget({ ...addresses, dynamodbEndpoint: trial.tablesEndpoint });
  const table = { client: documentClient, name: tableName('messages') };
  const pages = await pagesOf(table, dispatch);
  for (const Item of pages) {
    await documentClient.send(
      new PutCommand({ TableName: table.name, Item: { ...Item, recipients: new Uint8Array(9) } }),
    );
  }
  return async () => {
    for (const Item of pages) await documentClient.send(new PutCommand({ TableName: table.name, Item }));
    documentClient.destroy();
  };
}

/** The page of a partition's last recipient, then that of the one before it, until the partition's first. */
async function pagesOf(
  table: { readonly client: DynamoDBDocumentClient; readonly name: string },
  { dispatchId, total }: Dispatch,
) {
  const pages: NonNullable<Awaited<ReturnType<typeof parameterPageAt>>>[] = [];
  for (let first = 0; first < total; first = nextParameters(first)) {
    for (let index = Math.min(total, nextParameters(first)) - 1; index >= first; ) {
      const page = await parameterPageAt(table, { dispatchId, index });
      if (page === undefined) break;
      pages.push(page);
      index = Number(page['sk']) - 1;
    }
  }
  return pages;
}

/**
 * From now on each process of the sender dies that reads the recipients of one dispatch: the first whose recipients one
 * reads. Returns what ends that.
 */
export function poisonProcesses(trial: LocalTrial, onDeath: () => void): () => void {
  let deadly: string | undefined;
  return trial.store.listen('PARAMS#', (port, body) => {
    const [, dispatchId] = /PARAMS#(\w+)#/.exec(body.toString('latin1')) ?? [];
    if (deadly !== undefined && deadly !== dispatchId) return;
    const pid = processOfPort(port, pidsOf(trial.stack, sender));
    if (pid === undefined) return;
    deadly = dispatchId;
    if (killed(pid)) onDeath();
  });
}

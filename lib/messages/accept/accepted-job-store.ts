import { type TableAccess, transactWrite } from '../../aws/dynamodb-batch.ts';
import { type AcceptedJob, descriptionOf } from './accepted-job.ts';

/**
 * Writes what describes a job, all of it or nothing: where the acceptance is found, the recipients and the pointer are
 * there too. One request, which may be repeated. Rejects when `abortSignal` ends the wait.
 */
export async function putDescription(table: TableAccess, job: AcceptedJob, abortSignal?: AbortSignal): Promise<void> {
  const actions = descriptionOf(job).map((Item) => ({ Put: { TableName: table.tableName, Item } }));
  await transactWrite(table, actions, abortSignal);
}

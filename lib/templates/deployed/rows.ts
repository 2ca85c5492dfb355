import { documents, environmentVariable } from '../../aws/deployed.ts';
import { type RowStore, rowStore } from '../model/row-store.ts';

/** The rows of templates (one for each client that has one). */
export function deployedRows(): RowStore {
  return rowStore(documents(), environmentVariable('TEMPLATES_TABLE'));
}

import { documents, environmentVariable } from '../../aws/deployed.ts';
import { type RowStore, rowStore } from '../model/row-store.ts';

export function deployedRows(): RowStore {
  return rowStore(documents(), environmentVariable('TEMPLATES_TABLE'));
}

import { documents, environmentVariable } from '../../aws/deployed.ts';
import { statusStore } from '../status/status-store.ts';
import { deployedRows } from './rows.ts';

export function deployedStatus() {
  return {
    rows: deployedRows(),
    status: statusStore(documents(), environmentVariable('TEMPLATES_TABLE')),
  };
}

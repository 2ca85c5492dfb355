import { documents, environmentVariable } from '../../aws/deployed.ts';
import { assignmentStore } from '../assignments/assignment-store.ts';
import { deployedRows } from './rows.ts';

export function deployedAssignments() {
  return {
    rows: deployedRows(),
    assignments: assignmentStore(documents(), environmentVariable('TEMPLATES_TABLE')),
  };
}

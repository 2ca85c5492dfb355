import { documents, environmentVariable } from '../../aws/deployed.ts';
import { type TemplateStore, templateStore } from '../model/template-store.ts';

export function deployedListing(): TemplateStore {
  return templateStore(documents(), environmentVariable('TEMPLATES_TABLE'));
}

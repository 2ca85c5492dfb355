import { documents, environmentVariable } from '../../aws/deployed.ts';
import { deployedRedirects } from '../../redirects/deployed.ts';
import { keepingRedirects } from '../authoring/kept-redirects.ts';
import { type TemplateStore, templateStore } from '../model/template-store.ts';

/** Builds the templates for writers of the platform's readings, which make shown redirects permanent. */
export function deployedTemplates(): TemplateStore {
  return keepingRedirects(templateStore(documents(), environmentVariable('TEMPLATES_TABLE')), deployedRedirects());
}

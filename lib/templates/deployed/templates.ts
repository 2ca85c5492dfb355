import { documents, environmentVariable } from '../../aws/deployed.ts';
import { deployedRedirects } from '../../redirects/deployed.ts';
import { keepingRedirects } from '../authoring/kept-redirects.ts';
import { type TemplateStore, templateStore } from '../model/template-store.ts';

/** The templates for who takes over what the platform says: redirects that a template then shows are made permanent. */
export function deployedTemplates(): TemplateStore {
  return keepingRedirects(templateStore(documents(), environmentVariable('TEMPLATES_TABLE')), deployedRedirects());
}

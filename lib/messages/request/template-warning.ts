import * as v from 'valibot';
import { PlatformTemplateSchema } from '../../templates/model/template.ts';
import { neverSendable } from './parameter-contract.ts';

const longestWarning = 300;

/**
 * Returns a header warning that a template can never be sent from here, with the refusal of a send (D18), or that
 * dispatches wait for it (D46).
 */
export function templateWarning(template: unknown, waiting?: string): { readonly 'template-warning'?: string } {
  const known = v.safeParse(PlatformTemplateSchema, template);
  const reason = known.success ? neverSendable(known.output) : undefined;
  const warning = [waiting, reason].filter((each) => each !== undefined).join('; ');
  if (warning === '') return {};
  // The platform may use characters that a header cannot hold.
  return { 'template-warning': warning.slice(0, longestWarning).replace(/[^\x20-\x7e]/g, '?') };
}

import * as v from 'valibot';
import { PlatformTemplateSchema } from '../../templates/model/template.ts';
import { neverSendable } from './parameter-contract.ts';

const longestWarning = 300;

/**
 * The header of an answer that tells of a template that can never be sent from here, with the sentence that a send would be
 * refused with (D18); none for a template that can. The template is as it was sent to the platform, or read there.
 */
export function templateWarning(template: unknown): { readonly 'template-warning'?: string } {
  const known = v.safeParse(PlatformTemplateSchema, template);
  const reason = known.success ? neverSendable(known.output) : undefined;
  if (reason === undefined) return {};
  // The platform may name a kind in letters that no header can have.
  return { 'template-warning': reason.slice(0, longestWarning).replace(/[^\x20-\x7e]/g, '?') };
}

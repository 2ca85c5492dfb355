import * as v from 'valibot';
import { documentedAs, inAnyLetterCase, knownWords } from '../http/documented.ts';

/*
 * Words of the platform as it spells them (platform reference, 2.4 and 3.2), and how the interface's document tells them
 * (D48).
 */

export const templateCategories = ['MARKETING', 'UTILITY', 'AUTHENTICATION'] as const;

/** Others may come; the service keeps them as they are (D22). */
const templateStatuses = [
  ...(['PENDING', 'APPROVED', 'REJECTED', 'PAUSED', 'DISABLED', 'IN_APPEAL', 'PENDING_DELETION', 'DELETED'] as const),
  ...(['LIMIT_EXCEEDED', 'ARCHIVED'] as const),
] as const;

export const TemplateCategoryWord = inAnyLetterCase(templateCategories);
export const TemplateStatusWord = knownWords(templateStatuses);

/** A category that the platform tells; passed on as it is. */
export const ToldCategory = v.pipe(
  v.string(),
  documentedAs(() => TemplateCategoryWord),
);

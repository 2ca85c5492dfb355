import * as v from 'valibot';
import { documentedAs, inAnyLetterCase, knownWords } from '../http/documented.ts';

/**
 * Enums have the platform's spelling (platform reference, 2.4 and 3.2), with their form in the interface's document
 * (D48).
 */

export const templateCategories = ['MARKETING', 'UTILITY', 'AUTHENTICATION'] as const;

/** The list is not closed: the service keeps other statuses as they are (D22). */
const templateStatuses = [
  ...(['PENDING', 'APPROVED', 'REJECTED', 'PAUSED', 'DISABLED', 'IN_APPEAL', 'PENDING_DELETION', 'DELETED'] as const),
  ...(['LIMIT_EXCEEDED', 'ARCHIVED'] as const),
] as const;

export const TemplateCategoryWord = inAnyLetterCase(templateCategories);
export const TemplateStatusWord = knownWords(templateStatuses);

/** A category from the platform passes unchanged. */
export const PlatformCategory = v.pipe(
  v.string(),
  documentedAs(() => TemplateCategoryWord),
);

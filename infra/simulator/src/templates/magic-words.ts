import type { TemplateComponent, TemplateFields } from './template.ts';

/** The platform rejects for these reasons (platform reference, 2.3). */
const reasons = [
  'ABUSIVE_CONTENT',
  'INCORRECT_CATEGORY',
  'INVALID_FORMAT',
  'PROMOTIONAL',
  'SCAM',
  'TAG_CONTENT_MISMATCH',
] as const;

/** A word in a body decides the fate of the template. The console shows the table. */
export const magicWords = [
  { word: 'REVIEW_NOW', what: 'is reviewed at once, so that the answer to the creation says APPROVED or REJECTED' },
  { word: 'REVIEW_NEVER', what: 'stays PENDING until the control interface says otherwise' },
  { word: 'AS_MARKETING', what: 'becomes MARKETING when created as UTILITY under a new name' },
  ...reasons.map((reason) => ({ word: `REJECT_${reason}`, what: `is rejected with ${reason}` })),
] as const;

type MagicWord = (typeof magicWords)[number]['word'];

export function says(components: readonly Pick<TemplateComponent, 'type' | 'text'>[], word: MagicWord): boolean {
  return components.some((component) => component.type === 'BODY' && component.text?.includes(word) === true);
}

export type Verdict = { readonly status: 'APPROVED' | 'REJECTED'; readonly rejected_reason: string };

/** Reviews a template: a magic word, or variables without text between them, reject it (3.10). */
export function verdictOn({ components }: Pick<TemplateFields, 'components'>): Verdict {
  const reason = reasons.find((one) => says(components, `REJECT_${one}`));
  if (reason !== undefined) return { status: 'REJECTED', rejected_reason: reason };
  const adjacent = components.some((component) => /\}\}\s*\{\{/.test(component.text ?? ''));
  if (adjacent) return { status: 'REJECTED', rejected_reason: 'INVALID_FORMAT' };
  return { status: 'APPROVED', rejected_reason: 'NONE' };
}

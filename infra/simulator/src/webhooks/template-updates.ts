import type { Template, TemplateButton, TemplateFields } from '../templates/template.ts';
import type { NodeUpdate } from './update.ts';

/** The platform gives some status changes a reason (platform reference, 10.3). */
export type StatusNote = keyof typeof descriptions;

const descriptions = {
  FIRST_PAUSE: 'The template is paused for 3 hours because of its quality.',
  SECOND_PAUSE: 'The template is paused for 6 hours because of its quality.',
  DISABLED: 'The template is disabled because of its quality.',
  UNPAUSE: 'The template is no longer paused.',
} as const;

/**
 * Tells changes of components, category, quality and status. `before` is undefined for a creation, `after` for a
 * deletion.
 */
export function templateUpdates(
  before: Template | undefined,
  after: Template | undefined,
  change: { readonly atMs: number; readonly note?: StatusNote | undefined },
): readonly NodeUpdate[] {
  const template = after ?? before;
  if (template === undefined) return [];
  const named = {
    message_template_id: Number(template.id),
    message_template_name: template.fields.name,
    // A webhook spells languages with a hyphen.
    message_template_language: template.fields.language.replace('_', '-'),
  };
  const parts: (readonly [string, object | undefined])[] = [
    ['message_template_components_update', componentsPart(before, after)],
    ['template_category_update', categoryPart(before?.fields, after?.fields, change.atMs)],
    ['message_template_quality_update', qualityPart(before, after)],
    ['message_template_status_update', statusPart(before?.fields, after?.fields, change)],
  ];
  return parts.flatMap(([field, part]) =>
    part === undefined ? [] : { kind: 'node' as const, wabaId: template.wabaId, field, value: { ...named, ...part } },
  );
}

function statusPart(
  before: TemplateFields | undefined,
  after: TemplateFields | undefined,
  { atMs, note }: { readonly atMs: number; readonly note?: StatusNote | undefined },
): object | undefined {
  const event = after?.status ?? 'DELETED';
  if (event === before?.status) return undefined;
  const reason = event === 'REJECTED' ? String(after?.['rejected_reason'] ?? 'NONE') : 'NONE';
  return {
    event,
    reason: event === 'PENDING_DELETION' ? null : reason,
    message_template_category: (after ?? before)?.category,
    ...(event === 'DISABLED' ? { disable_info: { disable_date: String(Math.floor(atMs / 1_000)) } } : {}),
    other_info: note && { title: note, description: descriptions[note] },
    ...(event === 'REJECTED'
      ? {
          rejection_info: {
            reason: `The review found ${reason}.`,
            recommendation: 'Change the template and send it again.',
          },
        }
      : {}),
  };
}

function qualityPart(before: Template | undefined, after: Template | undefined): object | undefined {
  if (before === undefined || after === undefined) return undefined;
  const scores = [before, after].map(({ fields }) => fields.quality_score?.score ?? 'UNKNOWN');
  const [was, is] = scores;
  return was === is ? undefined : { previous_quality_score: was, new_quality_score: is };
}

/** A planned change names the future category, a completed one the previous category. */
function categoryPart(
  before: TemplateFields | undefined,
  after: TemplateFields | undefined,
  atMs: number,
): object | undefined {
  if (before === undefined || after === undefined) return undefined;
  if (before.category !== after.category) {
    return { previous_category: before.category, new_category: after.category };
  }
  const correct = after['correct_category'];
  if (correct === undefined || correct === before['correct_category']) return undefined;
  const timestamp = Math.floor(atMs / 1_000) + 24 * 3_600;
  return { new_category: after.category, correct_category: correct, category_update_timestamp: timestamp };
}

function componentsPart(before: Template | undefined, after: Template | undefined): object | undefined {
  if (before === undefined || after === undefined) return undefined;
  if (JSON.stringify(before.components) === JSON.stringify(after.components)) return undefined;
  const partOf = (type: string) => after.components.find((component) => component.type === type);
  const [body, header, footer, buttons] = ['BODY', 'HEADER', 'FOOTER', 'BUTTONS'].map(partOf);
  return {
    message_template_element: body?.text ?? '',
    message_template_title: header?.text,
    message_template_footer: footer?.text,
    message_template_buttons: buttons?.buttons?.map(buttonPart),
  };
}

function buttonPart(button: TemplateButton) {
  return {
    message_template_button_type: button.type,
    message_template_button_text: button.text,
    message_template_button_url: button.url,
    message_template_button_phone_number: button['phone_number'],
  };
}

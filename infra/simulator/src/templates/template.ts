import * as v from 'valibot';
import { exampleAddress } from '../media/examples.ts';
import type { Placed } from '../paging.ts';

export const templateStatuses = [
  'APPROVED',
  'ARCHIVED',
  'DELETED',
  'DISABLED',
  'IN_APPEAL',
  'LIMIT_EXCEEDED',
  'PAUSED',
  'PENDING',
  'PENDING_DELETION',
  'REJECTED',
] as const;

const ButtonSchema = v.looseObject({
  type: v.string(),
  text: v.optional(v.string()),
  url: v.optional(v.string()),
  otp_type: v.optional(v.string()),
});

const PlainComponentSchema = v.looseObject({
  type: v.string(),
  format: v.optional(v.string()),
  text: v.optional(v.string()),
  example: v.optional(v.looseObject({ header_handle: v.optional(v.array(v.string())) })),
  buttons: v.optional(v.array(ButtonSchema)),
  limited_time_offer: v.optional(v.looseObject({ has_expiration: v.optional(v.boolean()) })),
  code_expiration_minutes: v.optional(v.number()),
  add_security_recommendation: v.optional(v.boolean()),
});

const ComponentSchema = v.looseObject({
  ...PlainComponentSchema.entries,
  cards: v.optional(v.array(v.looseObject({ components: v.array(PlainComponentSchema) }))),
});

/**
 * A template is as created, with facts that only a read shows. Unknown fields are kept; status and category are open
 * for values that the platform may add later.
 */
export const TemplateFieldsSchema = v.looseObject({
  name: v.pipe(v.string(), v.regex(/^[a-z0-9_]{1,512}$/, 'must be 1 to 512 of a-z, 0-9 and _')),
  language: v.pipe(v.string(), v.nonEmpty('must not be empty')),
  status: v.optional(v.string(), 'APPROVED'),
  category: v.string(),
  components: v.array(ComponentSchema),
  parameter_format: v.optional(v.string(), 'POSITIONAL'),
  quality_score: v.optional(v.looseObject({ score: v.string() })),
  optimization_spec: v.optional(v.looseObject({})),
  source: v.optional(v.string()),
  last_updated_time: v.optional(v.string()),
});

export type TemplateFields = v.InferOutput<typeof TemplateFieldsSchema>;
export type TemplateComponent = v.InferOutput<typeof ComponentSchema>;
export type TemplateButton = v.InferOutput<typeof ButtonSchema>;

export interface Template extends Placed {
  readonly id: string;
  readonly wabaId: string;
  readonly fields: TemplateFields;
  /** The platform shows these components, and checks sends against them. */
  readonly components: readonly TemplateComponent[];
}

/** Spells a time in the platform's format: `2026-11-20T12:00:00+0000`. */
export function timeText(ms: number): string {
  return new Date(ms).toISOString().replace(/\.\d+Z$/, '+0000');
}

/**
 * Returns the variables of a text, each once, in order of first appearance: `['1', '2']` or `['customer', 'order']`.
 */
export function variablesOf(text: string | undefined): readonly string[] {
  return [...new Set([...(text ?? '').matchAll(/\{\{\s*([^{}\s]+)\s*\}\}/g)].map((match) => match[1] ?? ''))];
}

/**
 * Returns components as a read does (platform reference, 2.3): media handles as https addresses, OTP buttons as URL
 * buttons without `otp_type`, and fixed texts (authentication, COPY_CODE) spelled out.
 */
export function componentsAsRead(components: readonly TemplateComponent[]): readonly TemplateComponent[] {
  const otpButton = components.flatMap((component) => component.buttons ?? []).find((button) => button.type === 'OTP');
  return components.map((component) => {
    const shown = withFixedLabels(withMediaAddress(component));
    if (component.cards !== undefined) {
      return {
        ...shown,
        cards: component.cards.map((card) => ({ components: card.components.map(withMediaAddress) })),
      };
    }
    return otpButton === undefined ? shown : authenticationAsRead(shown, otpButton);
  });
}

function withFixedLabels(component: TemplateComponent): TemplateComponent {
  if (component.buttons === undefined) return component;
  const label = (button: TemplateButton) =>
    button.type === 'COPY_CODE' ? { ...button, text: 'Copy offer code' } : button;
  return { ...component, buttons: component.buttons.map(label) };
}

function withMediaAddress<const C extends v.InferOutput<typeof PlainComponentSchema>>(component: C): C {
  const handles = component.example?.header_handle;
  if (handles === undefined) return component;
  const shown = (handle: string) => (handle.startsWith('https://') ? handle : exampleAddress(handle, component.format));
  return { ...component, example: { ...component.example, header_handle: handles.map(shown) } };
}

function authenticationAsRead(component: TemplateComponent, otpButton: TemplateButton): TemplateComponent {
  if (component.type === 'BODY' && component.text === undefined) {
    const advice = component.add_security_recommendation === true ? ' For your security, do not share this code.' : '';
    return {
      ...component,
      text: `*{{1}}* is your verification code.${advice}`,
      example: { body_text: [['123456']] },
    };
  }
  if (component.type === 'FOOTER' && component.text === undefined && component.code_expiration_minutes !== undefined) {
    return { ...component, text: `This code expires in ${component.code_expiration_minutes} minutes.` };
  }
  if (component.type === 'BUTTONS') {
    const url = `https://www.whatsapp.com/otp/code/?otp_type=${otpButton.otp_type ?? 'COPY_CODE'}&code=otp`;
    const button = { type: 'URL', text: otpButton.text ?? 'Copy code', url: `${url}{{1}}`, example: [`${url}123456`] };
    return { ...component, buttons: [button] };
  }
  return component;
}

import * as v from 'valibot';
import { documentedAs, wholeNumber } from '../../http/documented.ts';
import { PlatformCategory } from '../../platform/enums.ts';
import { type PlatformTemplate, rejectionReason } from '../model/template.ts';
import { ChannelCampaignGroupSchema } from './listing.ts';

/** Fields of a listed template stand in the order of the answer (contract, GET /v1/templates, `fields`). */
const templateFields = [
  'id',
  'waba_id',
  'client_id',
  'active',
  'namespace',
  'platform_template',
  'channel_campaigns',
] as const;
export type TemplateField = (typeof templateFields)[number];

/** Returns the known fields among the requested names; all fields when none is known (D8). */
export function requestedFields(names: readonly string[] | undefined): ReadonlySet<TemplateField> {
  const known = templateFields.filter((field) => names?.includes(field));
  return new Set(known.length === 0 ? templateFields : known);
}

/** A component is as the platform has it, with unknown fields. */
const ComponentSchema = v.pipe(
  v.record(v.string(), v.unknown()),
  documentedAs(() =>
    v.looseObject({
      type: v.string(),
      format: v.optional(v.string()),
      text: v.optional(v.string()),
      example: v.optional(v.looseObject({})),
      buttons: v.optional(v.array(v.looseObject({ type: v.string() }))),
      cards: v.optional(v.array(v.looseObject({ components: v.array(v.looseObject({ type: v.string() })) }))),
    }),
  ),
);

export const PlatformTemplateViewSchema = v.object({
  id: v.string(),
  name: v.string(),
  language: v.string(),
  status: v.pipe(v.string(), v.description('As the platform spells it, such as APPROVED, PENDING or REJECTED.')),
  category: PlatformCategory,
  components: v.array(ComponentSchema),
  quality_score: v.optional(v.object({ score: v.string() })),
  previous_category: v.optional(PlatformCategory),
  rejected_reason: v.optional(v.string()),
  example: v.optional(v.unknown()),
  format: v.optional(v.unknown()),
  text: v.optional(v.unknown()),
  buttons: v.optional(v.unknown()),
});

/** Fields of a template in an answer have this order (contract, Template). */
export const TemplateSchema = v.object({
  id: v.string(),
  waba_id: v.string(),
  client_id: wholeNumber,
  active: v.boolean(),
  namespace: v.string(),
  platform_template: PlatformTemplateViewSchema,
  channel_campaigns: v.array(ChannelCampaignGroupSchema),
} satisfies Record<TemplateField, v.GenericSchema>);

export const ListedTemplateSchema = v.partial(TemplateSchema);

export interface TemplateView extends Omit<v.InferOutput<typeof TemplateSchema>, 'platform_template'> {
  readonly platform_template: v.InferOutput<typeof PlatformTemplateViewSchema> | undefined;
}

export function templateView(template: TemplateView, wanted: ReadonlySet<TemplateField>): Partial<TemplateView> {
  return Object.fromEntries(
    templateFields.filter((field) => wanted.has(field)).map((field) => [field, template[field]]),
  );
}

/**
 * Returns the contract's `platform_template`: its fields only, after the omission rule. A `rejected_reason` of `NONE`
 * is empty. The rule covers components too, where the platform keeps format, text, buttons and example.
 */
export function platformTemplateView(template: PlatformTemplate): v.InferOutput<typeof PlatformTemplateViewSchema> {
  const { id, name, language, status, category, components, quality_score, previous_category } = template;
  const rejected_reason = rejectionReason(template);
  return {
    id,
    name,
    language,
    status,
    category,
    components: components.map((component) => withoutOmitted(component)),
    ...(quality_score?.score ? { quality_score: { score: quality_score.score } } : {}),
    ...(previous_category ? { previous_category } : {}),
    rejected_reason,
    ...withoutOmitted(pick(template, ['example', 'format', 'text', 'buttons'])),
  };
}

function pick(source: Readonly<Record<string, unknown>>, names: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(names.filter((name) => name in source).map((name) => [name, source[name]]));
}

/**
 * Applies the omission rule: an empty or null `example` goes, and so do null `format`, `text` and `buttons`, also in
 * cards.
 */
function withoutOmitted(component: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const kept: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(component)) {
    if (name === 'example' && isEmptyObject(value)) continue;
    if ((name === 'format' || name === 'text' || name === 'buttons') && isAbsent(value)) continue;
    kept[name] = name === 'cards' && Array.isArray(value) ? value.map(cardView) : value;
  }
  return kept;
}

function cardView(card: unknown): unknown {
  if (!isRecord(card) || !Array.isArray(card['components'])) return card;
  return { ...card, components: card['components'].map((part) => (isRecord(part) ? withoutOmitted(part) : part)) };
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return value !== null && typeof value === 'object' && !Array.isArray(value);
}

function isAbsent(value: unknown): boolean {
  return value === null || value === undefined;
}

function isEmptyObject(value: unknown): boolean {
  return isAbsent(value) || (isRecord(value) && Object.keys(value).length === 0);
}

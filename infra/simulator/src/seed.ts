import * as v from 'valibot';
import demo from './data/demo.json' with { type: 'json' };
import { generatedTemplates } from './templates/generated.ts';
import { TemplateFieldsSchema } from './templates/template.ts';

const IdSchema = v.pipe(v.string(), v.regex(/^\d{5,16}$/, 'must be 5 to 16 digits'));

const PhoneNumberSchema = v.looseObject({
  id: IdSchema,
  display_phone_number: v.string(),
  throughput: v.object({ level: v.picklist(['STANDARD', 'HIGH', 'NOT_APPLICABLE']) }),
  is_on_biz_app: v.optional(v.boolean(), false),
});

const WabaSchema = v.object({
  /** `GET /{waba_id}` returns the node with these fields. */
  node: v.looseObject({
    id: IdSchema,
    name: v.string(),
    marketing_messages_onboarding_status: v.optional(v.string()),
    disable_marketing_messages_on_cloud_api: v.optional(v.boolean(), false),
  }),
  phone_numbers: v.array(PhoneNumberSchema),
  product_catalogs: v.array(
    v.object({
      id: IdSchema,
      name: v.string(),
      generated_products: v.optional(v.pipe(v.number(), v.integer(), v.minValue(0)), 0),
    }),
  ),
  templates: v.array(v.looseObject({ ...TemplateFieldsSchema.entries, id: IdSchema })),
  /** So many templates are generated beside the listed ones (templates/generated.ts). */
  generated_templates: v.optional(v.pipe(v.number(), v.integer(), v.minValue(0)), 0),
});

export const TokenSchema = v.object({
  token: v.pipe(v.string(), v.nonEmpty()),
  /** The app owns the token and its uploads. */
  app_id: v.optional(IdSchema),
  waba_ids: v.array(IdSchema),
  expires_at: v.optional(v.pipe(v.string(), v.isoTimestamp())),
});

const SeedSchema = v.object({
  tokens: v.array(TokenSchema),
  apps: v.optional(
    v.array(
      v.object({
        id: IdSchema,
        name: v.string(),
        secret: v.pipe(v.string(), v.nonEmpty()),
        subscribed_waba_ids: v.array(IdSchema),
      }),
    ),
    [],
  ),
  wabas: v.array(WabaSchema),
});

export type Seed = v.InferOutput<typeof SeedSchema>;
export type SeedToken = Seed['tokens'][number];

/** Parses a seed and adds the generated templates. Throws valibot's error for an invalid seed. */
export function parseSeed(input: unknown): Seed {
  const seed = v.parse(SeedSchema, input);
  return {
    ...seed,
    wabas: seed.wabas.map((waba) => ({
      ...waba,
      templates: [...waba.templates, ...generatedTemplates(waba.node.id, waba.generated_templates)],
    })),
  };
}

/** Returns the demo world: data/demo.json. */
export function demoSeed(): Seed {
  return parseSeed(demo);
}

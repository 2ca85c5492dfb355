import { graphError } from '../errors.ts';
import { type NodeFields, type NodeShape, selection } from '../fields.ts';
import { pageOf } from '../paging.ts';
import type { PlatformRequest } from '../platform-request.ts';
import { json, type Reply } from '../reply.ts';
import type { World } from '../state.ts';
import type { Waba } from '../wabas.ts';
import { templateLimitOf } from './budgets.ts';
import { type Template, templateStatuses } from './template.ts';

const shape: NodeShape = {
  type: 'MessageTemplate',
  byDefault: [
    'name',
    'parameter_format',
    'components',
    'language',
    'status',
    'category',
    'sub_category',
    'previous_category',
    'id',
  ],
  known: [
    'id',
    'name',
    'language',
    'status',
    'category',
    'sub_category',
    'previous_category',
    'correct_category',
    'components',
    'quality_score',
    'rejected_reason',
    'parameter_format',
    'message_send_ttl_seconds',
    'cta_url_link_tracking_opted_out',
    'library_template_name',
    'optimization_spec',
    'degrees_of_freedom_spec',
    'creative_sourcing_spec',
    'allow_category_change',
    'last_updated_time',
    'source',
  ],
};

const largestPage = 1_000;

/** Answers `GET /{waba_id}/message_templates` (platform reference, 2.1). */
export function listTemplates(world: World, waba: Waba, request: PlatformRequest): Reply {
  const select = selection(request.query.get('fields'), shape);
  const all = world.templates.ofWaba(waba.id);
  const found = all.filter(filterOf(request.query));
  const page = pageOf(found, { query: request.query, self: request.self, maximum: largestPage });
  const summary = summaryOf(request.query.get('summary'), {
    found: found.length,
    all: all.length,
    limit: templateLimitOf(waba),
  });
  return json({
    data: page.items.map((template) => select(nodeOf(template))),
    paging: page.paging,
    summary,
  });
}

/** Answers `GET /{template_id}`. */
export function readTemplate(template: Template, request: PlatformRequest): Reply {
  return json(selection(request.query.get('fields'), shape)(nodeOf(template)));
}

/** A read shows NONE without a rejection reason, UNKNOWN without a quality, and a date with every quality. */
function nodeOf(template: Template): NodeFields {
  const { quality_score: quality = { score: 'UNKNOWN' }, ...fields } = template.fields;
  return {
    rejected_reason: 'NONE',
    source: 'MANUAL',
    ...fields,
    quality_score: { date: Math.floor(Date.parse(fields.last_updated_time ?? '1970-01-01') / 1_000), ...quality },
    components: template.components,
    id: template.id,
  };
}

function filterOf(query: URLSearchParams): (template: Template) => boolean {
  const name = textOf(query, 'name');
  const content = textOf(query, 'content');
  const nameOrContent = textOf(query, 'name_or_content');
  const languages = listOf(query, 'language');
  const statuses = enumsOf(query, 'status', templateStatuses);
  const categories = enumsOf(query, 'category', ['AUTHENTICATION', 'MARKETING', 'UTILITY']);
  const qualities = enumsOf(query, 'quality_score', ['GREEN', 'YELLOW', 'RED', 'UNKNOWN']);
  const sources = enumsOf(query, 'source', ['AUTO_GENERATED', 'MANUAL']);
  const sinceMs = timeOf(query, 'since') ?? Number.NEGATIVE_INFINITY;
  const untilMs = timeOf(query, 'until') ?? Number.POSITIVE_INFINITY;
  const dated = query.has('since') || query.has('until');
  return (template) => {
    const { fields } = template;
    const updatedMs = Date.parse(fields.last_updated_time ?? '');
    return (
      (name === undefined || fields.name.includes(name)) &&
      (content === undefined || contentOf(template).includes(content)) &&
      (nameOrContent === undefined ||
        fields.name.includes(nameOrContent) ||
        contentOf(template).includes(nameOrContent)) &&
      (languages === undefined || languages.includes(fields.language)) &&
      (statuses === undefined || statuses.includes(fields.status)) &&
      (categories === undefined || categories.includes(fields.category)) &&
      (qualities === undefined || qualities.includes(fields.quality_score?.score ?? 'UNKNOWN')) &&
      (sources === undefined || sources.includes(fields.source ?? 'MANUAL')) &&
      (!dated || (updatedMs >= sinceMs && updatedMs <= untilMs))
    );
  };
}

function contentOf(template: Template): string {
  const texts = template.components.flatMap((component) => [
    component.text,
    ...(component.buttons ?? []).map((button) => button.text),
    ...(component.cards ?? []).flatMap((card) => card.components.map((inCard) => inCard.text)),
  ]);
  return texts.join('\n').toLowerCase();
}

function textOf(query: URLSearchParams, name: string): string | undefined {
  const text = query.get(name);
  return text === null || text === '' ? undefined : text.toLowerCase();
}

/** A list is a JSON array or one bare value. */
function listOf(query: URLSearchParams, name: string): readonly string[] | undefined {
  const text = query.get(name);
  if (text === null || text === '') return undefined;
  if (!text.startsWith('[')) return [text];
  const list = parseJson(text);
  if (Array.isArray(list) && list.every((item) => typeof item === 'string')) return list;
  throw graphError(100, `(#100) Param ${name} must be an array.`);
}

function enumsOf(query: URLSearchParams, name: string, allowed: readonly string[]): readonly string[] | undefined {
  return listOf(query, name)?.map((item) => {
    const value = item.toUpperCase();
    if (allowed.includes(value)) return value;
    throw graphError(100, `(#100) Param ${name} must be one of {${allowed.join(', ')}} - got "${item}".`);
  });
}

/** Parses Unix seconds or a date string to milliseconds. */
function timeOf(query: URLSearchParams, name: string): number | undefined {
  const text = query.get(name);
  if (text === null || text === '') return undefined;
  const ms = /^\d{1,11}$/.test(text) ? Number(text) * 1_000 : Date.parse(text);
  if (Number.isNaN(ms)) throw graphError(100, `(#100) Param ${name} must be a valid datetime`);
  return ms;
}

function summaryOf(
  text: string | null,
  counts: { readonly found: number; readonly all: number; readonly limit: number },
): NodeFields | undefined {
  if (text === null || text === '' || text === 'false') return undefined;
  const summary: NodeFields = {
    total_count: counts.found,
    message_template_count: counts.all,
    message_template_limit: counts.limit,
    are_translations_complete: true,
  };
  const asked = text === 'true' ? ['total_count'] : text.split(',').map((name) => name.trim());
  const unknown = asked.find((name) => !Object.hasOwn(summary, name));
  if (unknown !== undefined) throw graphError(100, `(#100) Unknown summary field (${unknown})`);
  return Object.fromEntries(asked.map((name) => [name, summary[name]]));
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

import type { TemplateRow } from '../../lib/templates/model/row.ts';
import { contentHash } from '../../lib/templates/model/stored-fact.ts';
import type { PlatformTemplate } from '../../lib/templates/model/template.ts';
import { documentId, templateKey } from '../../lib/templates/model/template-key.ts';

export function makeTemplate(overrides: Partial<PlatformTemplate> = {}): PlatformTemplate {
  return {
    id: '1627019861106475',
    name: 'order_update',
    language: 'en_US',
    status: 'APPROVED',
    category: 'UTILITY',
    components: [{ type: 'BODY', text: 'Your order {{1}} is on its way.', example: { body_text: [['7']] } }],
    ...overrides,
  };
}

export type Pair = readonly [channelId: number, campaignId: number];

/** Makes a row as the store returns it; `pairs` are its documents, none for the placeholder. */
export function makeRow(overrides: Partial<TemplateRow> & { readonly pairs?: readonly Pair[] } = {}): TemplateRow {
  const { pairs = [], ...rest } = overrides;
  const clientId = rest.clientId ?? 1001;
  const template = makeTemplate({ name: rest.name ?? 'order_update', language: rest.language ?? 'en_US' });
  const wabaId = rest.wabaId ?? '200000000000001';
  const key = templateKey({ ...template, wabaId });
  const idOf = (sequence: number) => documentId({ templateKey: key, clientId, sequence });
  return {
    clientId,
    templateKey: key,
    name: template.name,
    language: template.language,
    status: template.status,
    category: template.category,
    platformId: template.id,
    wabaId,
    contentHash: contentHash(template),
    deleted: false,
    active: true,
    isDirectMessage: false,
    documents:
      pairs.length === 0
        ? [{ id: idOf(0) }]
        : pairs.map(([channelId, campaignId], index) => ({ id: idOf(index), pair: { channelId, campaignId } })),
    nextSequence: Math.max(1, pairs.length),
    ...rest,
  };
}

import { expect } from 'vitest';
import { expectedListing, type ListingQuery, learnListed } from './listing.ts';
import type { Model } from './model.ts';
import type { Service } from './service.ts';
import { type ClientId, clientIds } from './setting.ts';

/**
 * Expects that each client's listings, of current and of deleted templates, and every current `_id` equal the model.
 */
export async function compareAll(model: Model, service: Service): Promise<void> {
  const compareClient = async (clientId: ClientId) => {
    for (const deleted of ['false', 'true']) {
      const listed = await list(service, clientId, { deleted, size: '100' });
      learnListed(model, clientId, listed.data);
      const data = expectedListing(model, clientId, { deleted }, false);
      const whole = { data, total: data.length, page: 1, pageSize: 100, paging: null };
      expect(listed, `listing of ${clientId}`).toEqual(whole);
    }
    await compareIds(model, service, clientId);
  };
  await Promise.all(clientIds.map(compareClient));
}

/** Expects that existing assignments, added again, change nothing and return every document's `_id` (D14). */
async function compareIds(model: Model, service: Service, clientId: ClientId): Promise<void> {
  for (const { deleted, kept } of model.stored.values()) {
    const documents = kept.get(clientId)?.documents ?? [];
    const messageTemplateId = documents[0]?.id ?? '';
    if (deleted || documents.length < 2) continue;
    const channel_campaigns = documents.map(({ pair }) => ({
      channel_id: pair?.channelId,
      campaign_id: pair?.campaignId,
    }));
    const { status, body } = await service.asOperator(service.endpoints.add, clientId, {
      path: { messageTemplateId },
      body: JSON.stringify({ channel_campaigns }),
    });
    expect(status).toBe(201);
    const { ids } = body as { readonly ids: readonly string[] };
    expect(ids).toHaveLength(documents.length);
    for (const [index, document] of documents.entries()) model.learnId(document, ids[index] ?? '');
  }
}

/** Expects that the pages of a listing equal the model (R29), as the client or its user without BSP_CN reads them. */
export async function comparePages(
  model: Model,
  service: Service,
  asked: { readonly clientId: ClientId; readonly query: ListingQuery; readonly size: number; readonly asUser: boolean },
): Promise<void> {
  const { clientId, query, size, asUser } = asked;
  const expected = expectedListing(model, clientId, query, asUser);
  for (let page = 1; page <= Math.ceil(expected.length / size) + 1; page++) {
    const listed = await list(service, clientId, { ...query, page: String(page), size: String(size) }, asUser);
    const data = expected.slice((page - 1) * size, page * size);
    expect(listed).toEqual({ data, total: expected.length, page, pageSize: size, paging: null });
  }
}

async function list(service: Service, clientId: ClientId, query: ListingQuery, asUser = false) {
  const { asOperator, asUser: ownUser, endpoints } = service;
  const { status, body } = await (asUser ? ownUser : asOperator)(endpoints.list, clientId, { query });
  expect(status).toBe(200);
  return body as { readonly data: readonly unknown[]; readonly total: number };
}

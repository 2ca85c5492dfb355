import { CampaignsListAnswer, CampaignsListQuery } from '../../../functions/campaigns-list.ts';
import {
  CatalogProductsAnswer,
  CatalogProductsPath,
  CatalogProductsQuery,
} from '../../../functions/catalog-products-list.ts';
import { CatalogsListAnswer, CatalogsListPath, CatalogsListQuery } from '../../../functions/catalogs-list.ts';
import { ChannelsListAnswer, ChannelsListQuery } from '../../../functions/channels-list.ts';
import { ClientsListAnswer, ClientsListQuery } from '../../../functions/clients-list.ts';
import { MeAnswer, MeQuery } from '../../../functions/me.ts';
import { PricingAnswer, PricingQuery } from '../../../functions/pricing-get.ts';
import { SpendGetAnswer, SpendGetQuery } from '../../../functions/spend-get.ts';
import { demo } from '../examples.ts';
import type { Operations } from '../operation.ts';
import { ofCallers, ofClients, ofPlatform } from '../refusals.ts';

export const directory: Operations = {
  me: {
    tag: 'Directory',
    summary: 'Read who is calling',
    description:
      'The user of the token, its permissions, the client that it works for, and the campaigns that it sees.',
    query: MeQuery,
    answers: { 200: { description: 'The caller.', schema: MeAnswer } },
    refusals: [...ofCallers, ...ofClients],
    examples: {
      own: {
        summary: 'A supervisor of one client',
        status: 200,
        answer: {
          user: { username: 'supervisor1001', client_id: demo.clientId },
          client: { id: demo.clientId, name: 'Andes Retail' },
          permissions: [],
          campaigns: [
            { id: 10, name: 'Onboarding' },
            { id: 11, name: 'Collections' },
          ],
        },
      },
    },
  },
  'clients-list': {
    tag: 'Directory',
    summary: 'List clients',
    description: 'Every client by id, for callers with BSP_CN; with client_id that one alone.',
    query: ClientsListQuery,
    answers: { 200: { description: 'A page, and the total.', schema: ClientsListAnswer } },
    refusals: [...ofCallers, ...ofClients],
    examples: {
      first: {
        summary: 'The first',
        parameters: { size: 1 },
        status: 200,
        answer: { data: [{ id: 1, name: 'Gateway operator' }], total: 3, page: 1, page_size: 1 },
      },
    },
  },
  'campaigns-list': {
    tag: 'Directory',
    summary: 'List campaigns',
    description: 'The campaigns of the client by id; without BSP_CN those of the user.',
    query: CampaignsListQuery,
    answers: { 200: { description: 'All of them.', schema: CampaignsListAnswer } },
    refusals: [...ofCallers, ...ofClients],
    examples: {
      own: {
        summary: 'Those of the user',
        status: 200,
        answer: {
          data: [
            { id: 10, name: 'Onboarding' },
            { id: 11, name: 'Collections' },
          ],
          total: 2,
        },
      },
    },
  },
  'channels-list': {
    tag: 'Directory',
    summary: 'List channels',
    description:
      'The channels of one client, or with BSP_CN and without client_id of all, with what the platform says of their numbers.',
    query: ChannelsListQuery,
    answers: { 200: { description: 'A page, and the total.', schema: ChannelsListAnswer } },
    refusals: [...ofCallers, ...ofClients],
    examples: {
      fields: {
        summary: 'Three fields',
        parameters: { fields: ['channel_id', 'did', 'name'] },
        status: 200,
        answer: {
          data: [{ channel_id: demo.channelId, did: demo.did, name: 'Andes sales' }],
          total: 1,
          page: 1,
          page_size: 20,
          fields: 'channel_id,did,name',
        },
      },
    },
  },
  'catalogs-list': {
    tag: 'Directory',
    summary: 'List catalogs',
    description: 'The catalogs that are linked to the WABA of the DID, as the platform says at that moment.',
    path: CatalogsListPath,
    query: CatalogsListQuery,
    answers: { 200: { description: 'All of them: mostly one.', schema: CatalogsListAnswer } },
    refusals: [...ofCallers, ...ofClients, ...ofPlatform, 'did_forbidden'],
    examples: {
      linked: {
        summary: 'The catalog of a DID',
        parameters: { did: demo.did },
        status: 200,
        answer: { data: [{ id: demo.catalogId, name: 'Andes spring catalog' }] },
      },
    },
  },
  'catalog-products-list': {
    tag: 'Directory',
    summary: 'List products',
    description: 'The products of the catalog that is linked to the WABA of the DID.',
    path: CatalogProductsPath,
    query: CatalogProductsQuery,
    answers: { 200: { description: 'A page.', schema: CatalogProductsAnswer } },
    refusals: [...ofCallers, ...ofClients, ...ofPlatform, 'did_forbidden', 'catalog_forbidden'],
    examples: {
      first: {
        summary: 'The first product',
        parameters: { did: demo.did, catalog_id: demo.catalogId, limit: 1 },
        status: 200,
        answer: {
          data: [
            {
              id: '7000000001000001',
              name: 'Trail shoe 1',
              retailer_id: 'sku-1',
              image_urls: ['https://images.example.com/600000000000001/sku-1-front.jpg'],
              description: 'Trail shoe, number 1 of the catalog',
              currency: 'USD',
              price: '9.99',
              url: 'https://shop.example.com/products/sku-1',
              category: 'Shoes',
              unique_id: '600000000000001:sku-1',
            },
          ],
          paging: { cursors: { after: 'cGxhY2U' } },
        },
      },
    },
  },
  'pricing-get': {
    tag: 'Directory',
    summary: 'Read a price',
    description: 'The list price of a message of one category to one country; the same for every caller.',
    query: PricingQuery,
    answers: { 200: { description: 'The price.', schema: PricingAnswer } },
    refusals: [...ofCallers, 'invalid_request', 'invalid_client_id', 'rate_not_found'],
    examples: {
      argentina: {
        summary: 'Marketing to Argentina',
        parameters: { market: 'AR', category: 'Marketing' },
        status: 200,
        answer: {
          market: 'AR',
          currency: 'USD',
          category: 'Marketing',
          rate: { amount: 0.0618, currency: 'USD' },
          source: "the platform's published rate card, list rates effective 2026-10-01, by way of one transcription",
          note: 'list rate for each delivered message, effective 2026-10-01',
        },
      },
    },
  },
  'spend-get': {
    tag: 'Directory',
    summary: 'Read what was spent',
    description:
      'What the client has spent in some days (UTC) by campaign, template, DID or market, the dearest first, and how messages ended day by day. The platform says of each delivered message whether it was billed and in which category; amounts are list prices of the day of delivery. Without to it is today, without from the first of that month; sums are kept for 400 days. Receipts that come later change it.',
    query: SpendGetQuery,
    answers: { 200: { description: 'All rows, their total, and the days.', schema: SpendGetAnswer } },
    refusals: [...ofCallers, ...ofClients],
    examples: {
      numbers: {
        summary: 'This month, by DID',
        parameters: { group: 'did' },
        status: 200,
        answer: {
          client_id: 1001,
          from: '2026-11-01',
          to: '2026-11-26',
          group: 'did',
          data: [
            { did: '5491100000001', messages: 9_870, billed: 9_870, amount: 609.966, currency: 'USD' },
            { did: '5491100000002', messages: 1_200, billed: 1_180, amount: 30.68, currency: 'USD' },
          ],
          total: { messages: 11_070, billed: 11_050, amount: 640.646, currency: 'USD' },
          days: [
            {
              ...{ day: '2026-11-24', sent: 9_902, failed: 98, held: 0, calls: 10_041 },
              ...{ messages: 9_870, billed: 9_870, amount: 609.966, currency: 'USD' },
            },
            {
              ...{ day: '2026-11-25', sent: 1_200, failed: 12, held: 0, calls: 1_214 },
              ...{ messages: 1_200, billed: 1_180, amount: 30.68, currency: 'USD' },
            },
          ],
        },
      },
    },
  },
};

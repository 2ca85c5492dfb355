import { beforeAll, describe, expect, test } from 'vitest';
import { directoryStore } from '../../../../lib/access/directory-store.ts';
import { listTemplates } from '../../../../lib/templates/listing/listing-page.ts';
import { templateStore } from '../../../../lib/templates/model/template-store.ts';
import { meterRequests } from '../../../support/request-meter.ts';
import { assignmentsAtScale, clientsAtScale, templatesAtScale } from '../../../support/scale.ts';
import { loadClients, loadTemplates } from '../../../support/scale-loading.ts';
import { freshTable, localDocumentClient } from '../../../support/stores.ts';
import { thorough } from '../../../support/thorough.ts';

const clientId = 1001;
const wabaId = '200000000000001';
const count = 6_000;
const file = clientsAtScale({ seed: 1, clients: 2, channelsEach: 5, campaignsEach: 20 });
const templates = templatesAtScale({ seed: 1, count, bodyBytes: 5_000 });
const live = templates.filter(({ status }) => status !== 'PENDING_DELETION');
const pending = live.filter(({ name, status }) => name.includes('order') && status === 'PENDING');

describe.runIf(thorough)('a list of thousands', () => {
  let tables: { readonly directory: string; readonly templates: string };
  beforeAll(async () => {
    tables = { directory: await freshTable('directory'), templates: await freshTable('templates') };
    const documentClient = localDocumentClient();
    await loadClients({ documentClient, tableName: tables.directory }, file);
    const assignments = assignmentsAtScale(file, { seed: 1, count, clientId });
    await loadTemplates({ documentClient, tableName: tables.templates }, { wabaId, clientId, templates, assignments });
  }, 240_000);

  test.each([
    ['first page', {}, { page: 1, size: 20 }, live.length, 20],
    ['last page of 100', {}, { page: Math.floor(live.length / 100), size: 100 }, live.length, 100],
    ['filtered', { state: ['PENDING'], search: 'ORDER' }, { page: 1, size: 100 }, pending.length, 100],
    ['without bodies', { fields: ['id'] }, { page: 1, size: 100 }, live.length, 100],
  ])(
    '6,000 templates of 5 KB, %s: at most 250 read units in 2 round trips (R31)',
    async (_, query, page, found, shown) => {
      const client = localDocumentClient();
      const meter = meterRequests(client);
      const stores = {
        directory: directoryStore(client, tables.directory),
        templates: templateStore(client, tables.templates),
      };
      const listing = await listTemplates(stores, { clientId, scope: undefined }, query, page);
      expect(listing.total).toBe(found);
      expect(listing.data).toHaveLength(shown);
      const cost = meter.taken();
      expect(cost.readUnits).toBeGreaterThan(100);
      expect(cost.readUnits).toBeLessThanOrEqual(250);
      expect(cost.roundTrips).toBeLessThanOrEqual(2);
    },
  );
});

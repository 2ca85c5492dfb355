import { describe, expect, test } from 'vitest';
import { templateForPairs, templateOfClient } from '../../../../lib/templates/assignments/assigned-template.ts';
import type { RowName } from '../../../../lib/templates/model/document.ts';
import type { TemplateRow } from '../../../../lib/templates/model/row.ts';
import type { RowStore } from '../../../../lib/templates/model/row-store.ts';
import { documentId } from '../../../../lib/templates/model/template-key.ts';
import { makeChannel, makeWaba, memoryDirectory } from '../../../support/directory.ts';
import { makeRow } from '../../../support/templates.ts';

const row = makeRow();
const { clientId, templateKey, wabaId } = row;
const otherWabaId = '200000000000009';
const asked = {
  messageTemplateId: documentId({ templateKey, clientId, sequence: 0 }),
  clientId,
  advice: '; client_id names the client',
};

/** Returns only the requested rows, as the table does. */
function rowsOf(...stored: readonly TemplateRow[]): RowStore {
  const nameOf = (name: RowName) => `${name.clientId} ${name.templateKey}`;
  const byName = new Map(stored.map((each) => [nameOf(each), each]));
  return {
    findRows: async (names) => {
      const found = new Map(names.map((name) => [nameOf(name), byName.get(nameOf(name))]));
      return (name) => found.get(nameOf(name));
    },
  };
}

const on = (wabaIds: readonly string[], rows = rowsOf(row)) => ({
  rows,
  directory: memoryDirectory({
    wabas: wabaIds.map((each) => makeWaba({ wabaId: each, clientIds: [clientId] })),
    channels: [makeChannel({ clientId }), makeChannel({ channelId: 506, clientId, wabaId: otherWabaId })],
    campaigns: [{ campaignId: 10, clientId, name: 'Onboarding' }],
  }),
});
const notFound = { status: 404, code: 'template_not_found', message: 'template not found; client_id names the client' };

test('the row of a client that is on the WABA of the template is found', async () => {
  expect(await templateOfClient(on([otherWabaId, wabaId]), asked)).toBe(row);
});

test('by the _id of another client’s document too; not where only that client has the template (D12)', async () => {
  const others = makeRow({ clientId: clientId + 1 });
  const messageTemplateId = documentId({ templateKey, clientId: clientId + 1, sequence: 0 });
  const named = { ...asked, messageTemplateId };
  expect(await templateOfClient(on([wabaId], rowsOf(row, others)), named)).toBe(row);
  await expect(templateOfClient(on([wabaId], rowsOf(others)), named)).rejects.toMatchObject(notFound);
  await expect(templateOfClient(on([wabaId], rowsOf(row)), named)).rejects.toMatchObject(notFound);
});

test.each([[''], ['no document']])('%j is no _id', async (messageTemplateId) => {
  await expect(templateOfClient(on([wabaId]), { ...asked, messageTemplateId })).rejects.toMatchObject(notFound);
});

test.each([['another WABA', otherWabaId], ['no WABA']])(
  'a client that is on %s only has the template no more, though its row is there (D12, R36)',
  async (_, ...wabaIds) => {
    await expect(templateOfClient(on(wabaIds), asked)).rejects.toMatchObject(notFound);
    const pairs = { ...asked, pairs: [{ channelId: 501, campaignId: 10 }] };
    await expect(templateForPairs(on(wabaIds), pairs)).rejects.toMatchObject(notFound);
  },
);

describe('for pairs (D14)', () => {
  test.each([
    ['the client’s own', [{ channelId: 501, campaignId: 10 }]],
    ['none', []],
    ['no list of them', undefined],
  ])('%s: the row', async (_, pairs) => {
    expect(await templateForPairs(on([wabaId]), { ...asked, pairs })).toBe(row);
  });

  test.each([
    ['an unknown channel', { channelId: 999, campaignId: 10 }, 'channel_campaigns[0].channel_id'],
    ['a channel of another WABA', { channelId: 506, campaignId: 10 }, 'channel_campaigns[0].channel_id'],
    ['an unknown campaign', { channelId: 501, campaignId: 11 }, 'channel_campaigns[0].campaign_id'],
  ])('%s is refused with its path', async (_, pair, path) => {
    await expect(templateForPairs(on([wabaId, otherWabaId]), { ...asked, pairs: [pair] })).rejects.toMatchObject({
      status: 400,
      details: { errors: [{ path }] },
    });
  });
});

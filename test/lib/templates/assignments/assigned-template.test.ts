import { expect, test } from 'vitest';
import { templateForPairs, templateOfClient } from '../../../../lib/templates/assignments/assigned-template.ts';
import { documentId } from '../../../../lib/templates/model/template-key.ts';
import { makeWaba, memoryDirectory } from '../../../support/directory.ts';
import { makeRow } from '../../../support/templates.ts';

const row = makeRow();
const { clientId, templateKey, wabaId } = row;
const rows = { findRows: async () => () => row };
const asked = {
  messageTemplateId: documentId({ templateKey, clientId, sequence: 0 }),
  clientId,
  advice: '; client_id names the client',
};
const on = (...wabaIds: string[]) => ({
  rows,
  directory: memoryDirectory({ wabas: wabaIds.map((each) => makeWaba({ wabaId: each, clientIds: [clientId] })) }),
});
const notFound = { status: 404, code: 'template_not_found' };

test('the row of a client that is on the WABA of the template is found', async () => {
  expect(await templateOfClient(on('200000000000009', wabaId), asked)).toBe(row);
});

test.each([['another WABA', '200000000000009'], ['no WABA']])(
  'a client that is on %s only has the template no more, though its row is there (D12, R36)',
  async (_, ...wabaIds) => {
    await expect(templateOfClient(on(...wabaIds), asked)).rejects.toMatchObject(notFound);
    const pairs = { ...asked, pairs: [{ channelId: 501, campaignId: 10 }] };
    await expect(templateForPairs(on(...wabaIds), pairs)).rejects.toMatchObject(notFound);
  },
);

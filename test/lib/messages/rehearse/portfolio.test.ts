import { expect, test } from 'vitest';
import type { ListedChannel } from '../../../../lib/channels/channel.ts';
import { type PortfolioPorts, portfolioOf } from '../../../../lib/messages/rehearse/portfolio.ts';
import type { DispatchesQuery } from '../../../../lib/messages/report/dispatches.ts';
import { makeListedChannel, memoryChannels } from '../../../support/channels.ts';
import { makeChannel, makeWaba, memoryDirectory } from '../../../support/directory.ts';

const nowMs = 1_800_000_000_000;
const [waba, sister, other] = ['1', '2', '3'].map((id) => makeWaba({ wabaId: id, clientIds: [1001] }));
if (waba === undefined || sister === undefined || other === undefined) throw new Error('no WABAs');
const directory = memoryDirectory({ wabas: [sister, waba, other, makeWaba({ wabaId: '4', clientIds: [1002] })] });
const did = { waba, channel: makeChannel({ wabaId: '1', phoneNumberId: '11', did: '54001' }) };

const number = (wabaId: string, waId: string, more: Partial<ListedChannel> = {}) =>
  makeListedChannel({ wabaId, waId, phoneNumberId: waId.slice(-2), currentLimit: 'TIER_2K', ...more });
const numbers = [
  number('1', '54011', { currentLimit: 'TIER_2K' }),
  // One number belongs to another client, which shares it (D5), and one was removed from the file.
  number('1', '54012', { clientId: 1002 }),
  number('1', '54013', { deleted: true }),
  number('2', '54021'),
  number('3', '54031', { businessId: '400000000000009' }),
  number('4', '54041', { clientId: 1002 }),
];

/** The ports have the recipients of each dispatch on each DID, newest first; they record the reads. */
function ports(totals: Readonly<Record<string, readonly number[]>>, listed = numbers) {
  const asked: DispatchesQuery[] = [];
  const given: PortfolioPorts = {
    directory,
    channels: memoryChannels(listed),
    dispatches: {
      listAccepted: async (question, { after = '0', limit }) => {
        asked.push(question);
        const from = Number(after);
        const all = Object.entries(totals).flatMap(([from, some]) => some.map((total) => ({ did: from, total })));
        const accepted = all.slice(from, from + limit).map((dispatch, at) => ({
          ...{ sk: String(from + at), dispatchId: 'J', templateName: 't', templateLanguage: 'es', acceptedAtMs: nowMs },
          ...{ ...dispatch, forgottenAtMs: nowMs + 1 },
        }));
        return { accepted, ...(from + limit < all.length ? { next: String(from + limit) } : {}) };
      },
    },
    nowMs: () => nowMs,
  };
  return { asked, given };
}

test('so far are the recipients of a day, on every number of the portfolio that the WABAs of the client have (D51)', async () => {
  const { asked, given } = ports({ 54011: [1, 20], 54012: [300], 54013: [4], 54021: [1_000], 54031: [9], 54041: [9] });
  expect(await portfolioOf({ clientId: 1001, did }, given)).toEqual({ peopleADay: 2_000, soFar: 1_325 });
  expect(asked).toEqual([{ clientId: 1001, from: nowMs - 86_400_000 }]);
});

test('counting ends once the limit is reached', async () => {
  const { asked, given } = ports({
    54011: Array.from({ length: 1_999 }, () => 1),
    54012: [1],
    54021: Array(2_000).fill(1),
  });
  expect(await portfolioOf({ clientId: 1001, did }, given)).toEqual({ peopleADay: 2_000, soFar: 2_000 });
  expect(asked).toHaveLength(4);
});

test('and after forty reads, that of the numbers of a WABA among them', async () => {
  const limited = numbers.map((each) => ({ ...each, currentLimit: 'TIER_100K' }));
  const { asked, given } = ports({ 54011: Array.from({ length: 30_000 }, () => 1) }, limited);
  expect(await portfolioOf({ clientId: 1001, did }, given)).toEqual({ peopleADay: 100_000, soFar: 37 * 500 });
  expect(asked).toHaveLength(37);
});

test.each<[string, readonly ListedChannel[]]>([
  ['no limit is known', [number('1', '54011', { currentLimit: undefined })]],
  ['there is none', [number('1', '54011', { currentLimit: 'TIER_UNLIMITED' })]],
  ['the platform was not asked about the number yet', [number('1', '54012')]],
])('nothing is told and no dispatch is read where %s', async (_, listed) => {
  const { asked, given } = ports({ 54011: [5] }, [...listed]);
  expect(await portfolioOf({ clientId: 1001, did }, given)).toBeUndefined();
  expect(asked).toEqual([]);
});

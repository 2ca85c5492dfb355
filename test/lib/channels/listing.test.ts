import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { ListedChannel } from '../../../lib/channels/channel.ts';
import { type ChannelFilters, listedClient, selectChannels } from '../../../lib/channels/listing.ts';
import { makeListedChannel } from '../../support/channels.ts';

// Refusals of a client are in test/lib/access/operating-client.test.ts.
describe('whose channels (contract, Authentication 4)', () => {
  const supervisor = { userId: 'u-1', clientId: 1001, permissions: [], crossClient: false };
  const operator = { userId: 'u-0', clientId: 1, permissions: ['BSP_CN'], crossClient: true };

  const clients = { hasClient: async (clientId: number) => clientId <= 1002 };

  test.each([
    ['nothing asked, own client', supervisor, undefined, 1001],
    ['own client asked', supervisor, 1001, 1001],
    ['nothing asked with BSP_CN, all clients', operator, undefined, undefined],
    ['another client with BSP_CN', operator, 1002, 1002],
  ])('%s', async (_, caller, asked, expected) => {
    expect(await listedClient(clients, caller, asked)).toBe(expected);
  });
});

describe('which channels', () => {
  const channels = [
    makeListedChannel({ clientId: 1002, waId: '5491100000002', clientName: 'Boreal', status: 'BANNED' }),
    makeListedChannel({ clientId: 1001, waId: '5511900000003', wabaId: '77', wabaName: 'Ñandú WABA', businessId: '9' }),
    makeListedChannel({ clientId: 1001, waId: '5491100000001', businessName: 'Straße.* 100%' }),
    makeListedChannel({ clientId: 999, waId: '99999', deleted: true }),
    makeListedChannel({ clientId: 999, waId: '88888888' }),
  ];

  // All else that filters do is in the property below.
  test.each<[ChannelFilters, string[]]>([
    [{ deleted: false }, ['88888888', '5491100000001', '5511900000003', '5491100000002']],
    [{ status: 'banned' }, []],
    [{ business_name: 'STRASSE' }, []],
    [{ business_name: 'straße.*' }, ['5491100000001']],
    [{ q: 'ÑANDÚ' }, ['5511900000003']],
  ])('%j', (filters, found) => {
    expect(selectChannels(channels, filters).map(({ waId }) => waId)).toEqual(found);
  });

  test('any filters on any channels find what a plain reading of the contract finds (D35)', () => {
    const word = fc.constantFrom('a', 'AB', '.b');
    const channel: fc.Arbitrary<ListedChannel> = fc
      .record({
        clientId: fc.integer({ min: 1, max: 12 }),
        waId: fc.constantFrom('10000', '9000', '010000', '10001'),
        clientName: word,
        wabaId: word,
        wabaName: word,
        businessId: word,
        businessName: word,
        status: word,
        deleted: fc.boolean(),
      })
      .map(makeListedChannel);
    const key = ({ clientId, waId }: ListedChannel) => `${clientId} ${waId}`;
    // More than two filters would rarely match anything.
    const names = ['wa_id', 'waba_id', 'status', 'business_id', 'business_name', 'q'] as const;
    const filters = fc
      .record({
        values: fc.record({
          wa_id: fc.constantFrom('10000', '9000'),
          waba_id: word,
          status: word,
          business_id: word,
          business_name: fc.constantFrom('a', 'B', '.'),
          q: fc.constantFrom('a', 'B', '1', '.'),
        }),
        given: fc.subarray([...names], { maxLength: 2 }),
        deleted: fc.constantFrom(undefined, false, true),
      })
      .map(({ values, given, deleted }): ChannelFilters => {
        return { ...Object.fromEntries(given.map((name) => [name, values[name]])), deleted };
      });
    let telling = 0;
    fc.assert(
      fc.property(fc.uniqueArray(channel, { selector: key, maxLength: 40 }), filters, (all, asked) => {
        const found = selectChannels(all, asked);
        expect(found).toEqual(naive(all, asked));
        if (found.length > 1 && found.length < all.length) telling += 1;
      }),
      { numRuns: 500 },
    );
    expect(telling).toBeGreaterThan(50);
  });
});

/** The reference applies one filter after the other, and sorts by insertion. */
function naive(channels: readonly ListedChannel[], asked: ChannelFilters): ListedChannel[] {
  let found = channels.filter((channel) => (asked.deleted === true ? channel.deleted : !channel.deleted));
  if (asked.wa_id) found = found.filter((channel) => channel.waId === asked.wa_id);
  if (asked.waba_id) found = found.filter((channel) => channel.wabaId === asked.waba_id);
  if (asked.status) found = found.filter((channel) => channel.status === asked.status);
  if (asked.business_id) found = found.filter((channel) => channel.businessId === asked.business_id);
  const within = (text: string, part: string) => text.toUpperCase().split(part.toUpperCase()).length > 1;
  const { business_name, q } = asked;
  if (business_name) found = found.filter((channel) => within(channel.businessName, business_name));
  if (q) {
    found = found.filter((channel) =>
      [channel.clientName, channel.wabaName, channel.waId, channel.wabaId].some((text) => within(text, q)),
    );
  }
  const sorted: ListedChannel[] = [];
  for (const channel of found) {
    const later = sorted.findIndex(
      (other) =>
        other.clientId > channel.clientId || (other.clientId === channel.clientId && other.waId > channel.waId),
    );
    sorted.splice(later === -1 ? sorted.length : later, 0, channel);
  }
  return sorted;
}

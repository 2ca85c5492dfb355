import { beforeAll, describe, expect, test } from 'vitest';
import { channelStore } from '../../../lib/channels/channel-store.ts';
import { selectChannels } from '../../../lib/channels/listing.ts';
import { channelsAtScale } from '../../support/channels.ts';
import { meterRequests } from '../../support/request-meter.ts';
import { loadChannels } from '../../support/scale-loading.ts';
import { freshTable, localDocumentClient } from '../../support/stores.ts';
import { thorough } from '../../support/thorough.ts';

// One client has almost all channels; a thousand others have one each.
const channels = channelsAtScale(50_000, (index) => (index % 50 === 1 ? 2_000 + Math.floor(index / 50) : 1001));
describe.runIf(thorough)('tens of thousands', () => {
  let table: string;
  beforeAll(async () => {
    table = await freshTable('channels');
    await loadChannels({ documentClient: localDocumentClient(), tableName: table }, channels);
  }, 240_000);

  test.each([
    ['all clients', undefined],
    ['one client with 49,000', 1001],
    ['one client with 1', 2_500],
  ])('50,000 channels, %s: every one in two round trips, without a scan', async (_, clientId) => {
    const client = localDocumentClient();
    const meter = meterRequests(client);
    const commands = new Set<unknown>();
    client.middlewareStack.add(
      (next, context) => (args) => {
        commands.add(context['commandName']);
        return next(args);
      },
      { step: 'initialize' },
    );
    const found = await channelStore(client, table).channelsOf(clientId);
    expect(meter.taken()).toMatchObject({ requests: 32, roundTrips: 2 });
    expect([...commands]).toEqual(['QueryCommand']);
    const wanted = channels.filter((channel) => clientId === undefined || channel.clientId === clientId);
    expect(found.length).toBe(wanted.length);
    expect(selectChannels(found, {})).toEqual(selectChannels(wanted, {}));
  });
});

import { expect, test } from 'vitest';
import demo from '../../../infra/local/demo/provisioning.json' with { type: 'json' };
import type { DidItem, WabaItem } from '../../../lib/access/directory-items.ts';
import { channelFromItem, wabaNumberFromItem } from '../../../lib/channels/channel-item.ts';
import { provisionedChannels, provisionedItems } from '../../../lib/provisioning/provisioned-items.ts';
import { provisioningFile } from '../../../lib/provisioning/provisioning-file.ts';

const items = provisionedItems(provisioningFile(demo, []));

test('every entry has its item, a WABA one per client, a channel one more under its DID', () => {
  expect(items.map(({ key }) => `${key.pk} ${key.sk}`)).toEqual([
    'CLIENT#1 PROFILE',
    'CLIENT#1001 PROFILE',
    'CLIENT#1002 PROFILE',
    'CLIENTS CLIENT#0000000000000001',
    'CLIENTS CLIENT#0000000000001001',
    'CLIENTS CLIENT#0000000000001002',
    'CLIENT#1001 WABA#200000000000001',
    'CLIENT#1002 WABA#200000000000001',
    'CLIENT#1002 WABA#200000000000002',
    'CLIENT#1001 CAMPAIGN#10',
    'CLIENT#1001 CAMPAIGN#11',
    'CLIENT#1002 CAMPAIGN#20',
    'CLIENT#1001 CHANNEL#501',
    'DID#5491100000001 DID',
    'CLIENT#1002 CHANNEL#502',
    'DID#5491100000002 DID',
    'CLIENT#1002 CHANNEL#503',
    'DID#5511900000003 DID',
    'CLIENT#1 USER#operator',
    'CLIENT#1001 USER#supervisor1001',
    'CLIENT#1001 USER#agent1001',
    'CLIENT#1002 USER#supervisor1002',
  ]);
});

test('the copy under the DID is the channel and the WABA with its clients in ascending order', () => {
  const shuffled = structuredClone(demo);
  shuffled.wabas[0]?.client_ids.reverse();
  const [did] = provisionedItems(provisioningFile(shuffled, [])).filter(({ key }) => key.pk === 'DID#5491100000002');
  expect(did?.attributes).toEqual({
    channel: {
      channelId: 502,
      did: '5491100000002',
      clientId: 1002,
      wabaId: '200000000000001',
      phoneNumberId: '300000000000002',
      name: 'Boreal Buenos Aires',
      throughputPerSecond: 1_000,
    },
    waba: {
      wabaId: '200000000000001',
      name: 'Shared WABA',
      namespace: demo.wabas[0]?.namespace,
      credential: 'demo',
      clientIds: [1001, 1002],
      appId: '500000000000001',
      dids: 'waba',
      platformStops: 'number',
      utilityStops: [],
    },
  });
});

test("every copy of a WABA says whose utility messages heed opt-outs, and for which clients the platform's stops count (D55)", () => {
  const [first, ...others] = demo.wabas;
  const clients = demo.clients.map((client) => ({ ...client, opt_outs_for_utility: client.client_id !== 1001 }));
  const file = provisioningFile({ ...demo, clients, wabas: [{ ...first, platform_stops: 'waba' }, ...others] }, []);
  const copies = provisionedItems(file).flatMap(({ key, attributes }) => {
    const { platformStops, utilityStops } = { ...attributes, ...(attributes['waba'] as object) } as Partial<WabaItem>;
    return key.sk === 'DID' || key.sk?.startsWith('WABA#') ? [[key.pk, platformStops, utilityStops]] : [];
  });
  expect(copies).toEqual([
    ['CLIENT#1001', 'waba', [1002]],
    ['CLIENT#1002', 'waba', [1002]],
    ['CLIENT#1002', 'number', [1002]],
    ['DID#5491100000001', 'waba', [1002]],
    ['DID#5491100000002', 'waba', [1002]],
    ['DID#5511900000003', 'number', [1002]],
  ]);
});

test('a client has the zone that the file gives it, and none without: one that was there before goes (D56)', () => {
  const clients = demo.clients.map((client) =>
    client.client_id === 1001 ? { ...client, zone: 'Asia/Tokyo' } : client,
  );
  const zones = provisionedItems(provisioningFile({ ...demo, clients }, [])).flatMap(({ key, attributes }) =>
    key.sk === 'PROFILE' ? [[key.pk, attributes['zone']]] : [],
  );
  expect(zones).toEqual([
    ['CLIENT#1', null],
    ['CLIENT#1001', 'Asia/Tokyo'],
    ['CLIENT#1002', null],
  ]);
});

test('a budget stands in the copy under each DID from which its client may send, and in no other (D58)', () => {
  const [first, ...others] = demo.clients.toReversed();
  const clients = [{ ...first, monthly_budget: { amount: 100 } }, ...others];
  const file = provisioningFile({ ...demo, clients }, []);
  const items = provisionedItems(file).map(({ key, attributes }) => {
    const { monthlyBudgets } = { ...(attributes['waba'] as object) } as Partial<DidItem['waba']>;
    return [`${key.pk} ${key.sk}`, monthlyBudgets ?? attributes['monthlyBudget'] ?? undefined] as const;
  });
  const budget = [{ clientId: 1002, amount: 100, stop: false }];
  expect(items.filter(([, found]) => found !== undefined)).toEqual([
    ['CLIENT#1002 PROFILE', { amount: 100, stop: false }],
    ['DID#5491100000001 DID', budget],
    ['DID#5491100000002 DID', budget],
    ['DID#5511900000003 DID', budget],
  ]);
});

test('the account that a number sends for is in the copy under its DID alone, which is what a send reads', () => {
  const named = structuredClone(demo) as { channels: { messaging_account_id?: string }[] } & typeof demo;
  Object.assign(named.channels[1] ?? {}, { messaging_account_id: '200000000000009' });
  const items = provisionedItems(provisioningFile(named, []));
  const texts = items.filter((item) => JSON.stringify(item).includes('200000000000009'));
  expect(texts.map(({ key }) => key.pk)).toEqual(['DID#5491100000002']);
  expect(texts[0]?.attributes['channel']).toMatchObject({ channelId: 502, messagingAccountId: '200000000000009' });
});

test('a channel is listed with what the file says of it; its status and creation are set only once', () => {
  const listed = provisionedChannels(provisioningFile(demo, []), '2026-11-20T12:00:00.000Z');
  expect(listed.map(({ key }) => key.sk)).toEqual([
    '1001#5491100000001',
    '300000000000001',
    '1002#5491100000002',
    '300000000000002',
    '1002#5511900000003',
    '300000000000003',
  ]);
  const [channel, number] = listed;
  expect(channelFromItem({ ...channel?.key, ...channel?.whenAbsent, ...channel?.attributes })).toEqual({
    clientId: 1001,
    waId: '5491100000001',
    clientName: 'Andes Retail',
    wabaId: '200000000000001',
    wabaName: 'Shared WABA',
    businessId: '400000000000001',
    businessName: 'Andes Retail',
    phoneNumberId: '300000000000001',
    channelId: 501,
    name: 'Andes sales',
    status: 'ACTIVE',
    createdAt: '2026-11-20T12:00:00.000Z',
    createdBy: 'provisioning',
    deleted: false,
  });
  expect(Object.keys(channel?.whenAbsent ?? {})).toEqual(['t']);
  expect(number?.key.pk).toBe('WABA#200000000000001');
  expect(wabaNumberFromItem({ ...number?.key, ...number?.attributes })).toEqual({
    phoneNumberId: '300000000000001',
    clientId: 1001,
    waId: '5491100000001',
  });
});

test('no item of the directory holds a password or a platform token', () => {
  expect(JSON.stringify(items)).not.toMatch(/demo-/);
});

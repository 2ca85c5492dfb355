import fc from 'fast-check';
import { expect, test } from 'vitest';
import demo from '../../../infra/local/demo/provisioning.json' with { type: 'json' };
import type { WabaItem } from '../../../lib/access/directory-items.ts';
import { lineText } from '../../../lib/provisioning/plan-lines.ts';
import { wantedPlatformCredentials } from '../../../lib/provisioning/platform-credentials.ts';
import { credentialItem, provisionedChannels, provisionedItems } from '../../../lib/provisioning/provisioned-items.ts';
import { type ProvisioningFile, provisioningFile } from '../../../lib/provisioning/provisioning-file.ts';
import {
  type ProvisionedState,
  placeText,
  provisioningPlan,
  type WantedState,
} from '../../../lib/provisioning/provisioning-plan.ts';
import { wantedPlatformApps } from '../../../lib/provisioning/wanted-apps.ts';
import { allowedIn, statesOf } from '../../support/provisioned-state.ts';
import { thorough } from '../../support/thorough.ts';

const nothing: ProvisionedState = { items: [], platformCredentials: {}, platformApps: {} };
const nowIso = '2026-11-20T12:00:00.000Z';

/** The wanted state of a file; plain passwords stand for their hashes. */
function wantedOf(file: ProvisioningFile, stored: ProvisionedState = nothing): WantedState {
  const credentials = file.users.map((user) => credentialItem(user, { passwordHash: user.password ?? '' }));
  return {
    items: [...provisionedItems(file), ...provisionedChannels(file, nowIso), ...credentials],
    platformCredentials: wantedPlatformCredentials(stored.platformCredentials, file),
    platformApps: wantedPlatformApps(file),
  };
}

const planFor = (stored: ProvisionedState, file: ProvisioningFile) => provisioningPlan(stored, wantedOf(file, stored));

function provisioned(file: ProvisioningFile, stored: ProvisionedState = nothing): ProvisionedState {
  const end = statesOf(stored, planFor(stored, file)).at(-1);
  if (end === undefined) throw new Error('no state');
  return end;
}

/** Sorts items and drops deleted channels, so that states are comparable. */
const sorted = ({ items, platformCredentials, platformApps }: ProvisionedState) => ({
  items: items
    .filter(({ attributes }) => attributes['g'] !== true)
    .toSorted((a, b) => (placeText(a) < placeText(b) ? -1 : 1)),
  platformCredentials,
  platformApps,
});

const subset = <T>(values: readonly T[]) => fc.subarray([...values]);
const clientIds = [1, 2, 3];

/** Small valid provisioning files in which every part may be absent and may have any owner. */
const files: fc.Arbitrary<ProvisioningFile> = fc
  .record({
    clients: fc.subarray(clientIds, { minLength: 1 }),
    wabaClients: fc.tuple(subset(clientIds), subset(clientIds)),
    wabaCredentials: fc.tuple(fc.constantFrom('c1', 'c2'), fc.constantFrom('c1', 'c2')),
    wabaStops: fc.tuple(fc.constantFrom('waba', 'number'), fc.constantFrom('waba', undefined)),
    utilityStops: subset(clientIds),
    budgets: fc.array(
      fc.option(fc.record({ amount: fc.constantFrom(10, 20, 30), stop: fc.boolean() }), { nil: undefined }),
      { minLength: 3, maxLength: 3 },
    ),
    wabaDids: fc.tuple(fc.constantFrom('waba', 'own'), fc.constantFrom('waba', 'own', undefined)),
    tokens: fc.tuple(fc.constantFrom('token-11', 'token-12'), fc.constantFrom('token-21', 'token-11')),
    apps: fc.tuple(fc.constantFrom(undefined, 0, 1), fc.constantFrom(undefined, 0, 1)),
    appSecrets: fc.tuple(fc.constantFrom('secret-11', 'secret-12'), fc.constantFrom('secret-21', 'secret-22')),
    words: fc.constantFrom(undefined, ['basta'], ['fin', 'basta']),
    previousAppSecret: fc.constantFrom(undefined, 'secret-10'),
    channels: fc.array(
      fc.record({ waba: fc.nat(1), client: fc.nat(2), did: fc.nat(2), number: fc.nat(3), account: fc.nat(2) }),
      {
        maxLength: 2,
      },
    ),
    campaigns: fc.subarray([10, 11]),
    campaignOwner: fc.nat(2),
    users: fc.array(
      fc.record({
        client: fc.nat(2),
        password: fc.constantFrom('password-1', 'password-2'),
        permissions: subset(['BSP_CN']),
        campaigns: subset([10, 11]),
      }),
      { maxLength: 2 },
    ),
  })
  .map((drawn) => {
    const clientAt = (index: number) => drawn.clients[index % drawn.clients.length] ?? 1;
    const wabas = drawn.wabaClients.flatMap((ids, index) => {
      const client_ids = ids.filter((id) => drawn.clients.includes(id));
      const credential = drawn.wabaCredentials[index] ?? '';
      const names = { name: 'WABA', namespace: 'ns', business_id: 'b', business_name: 'Business' };
      const modes = { dids: drawn.wabaDids[index], platform_stops: drawn.wabaStops[index] };
      const facts = { client_ids, credential, ...modes, ...names };
      return client_ids.length === 0 ? [] : [{ waba_id: `20${index}`, ...facts }];
    });
    const campaigns = drawn.campaigns.map((campaign_id) => ({
      campaign_id,
      client_id: clientAt(drawn.campaignOwner),
      name: `Campaign ${campaign_id}`,
    }));
    const channels = drawn.channels.flatMap(({ waba, client, did, number, account }, index) => {
      const of = wabas[waba % Math.max(1, wabas.length)];
      if (of === undefined) return [];
      const client_id = of.client_ids[client % of.client_ids.length] ?? 0;
      const owner = { client_id, waba_id: of.waba_id };
      const ids = { channel_id: 501 + index, did: `5490000${did}${index}`, phone_number_id: `30${number}${index}` };
      const of_account = account === 0 ? {} : { messaging_account_id: `4${account}` };
      return [{ ...ids, ...owner, ...of_account, name: 'Channel', throughput_per_second: 80 }];
    });
    const users = drawn.users.map(({ client, password, permissions, campaigns: ids }, index) => {
      const client_id = clientAt(client);
      const own = campaigns.filter((campaign) => campaign.client_id === client_id).map((own) => own.campaign_id);
      const campaign_ids = ids.filter((id) => own.includes(id));
      return { username: `user${index}`, client_id, password, permissions, campaign_ids };
    });
    const platform_credentials = drawn.tokens.map((access_token, index) => ({
      name: `c${index + 1}`,
      access_token,
      app_id: '1',
    }));
    const platform_apps = drawn.appSecrets.map((app_secret, index) => ({
      id: `50${index}`,
      app_secret,
      ...(index === 0 ? { previous_app_secret: drawn.previousAppSecret } : {}),
      verify_token: 'verify-token',
      wabas: wabas.map(({ waba_id }) => waba_id).filter((_, at) => drawn.apps[at] === index),
    }));
    const clients = drawn.clients.map((client_id) => ({
      client_id,
      name: `Client ${client_id}`,
      opt_outs_for_utility: drawn.utilityStops.includes(client_id),
      monthly_budget: drawn.budgets[client_id - 1],
    }));
    const words = drawn.words === undefined ? {} : { opt_out_words: { stop: drawn.words } };
    const lists = { wabas, channels, campaigns, users, platform_credentials, platform_apps };
    return provisioningFile({ clients, ...lists, ...words }, []);
  });

const nothingToDo = {
  lines: [],
  revocations: [],
  platformCredentials: undefined,
  grants: [],
  clientsToSynchronize: [],
};

test('from any state, a plan leads to what a fresh provisioning of the file gives; then there is nothing left to do', () => {
  fc.assert(
    fc.property(files, files, (before, after) => {
      const end = provisioned(after, provisioned(before));
      expect(sorted(end)).toEqual(sorted(provisioned(after)));
      expect(planFor(end, after)).toEqual(nothingToDo);
    }),
    { numRuns: thorough ? 300 : 60 },
  );
});

test('wherever a run ends, nobody may do what neither state allows, and the next run completes it (D36)', () => {
  fc.assert(
    fc.property(files, files, (before, after) => {
      const start = provisioned(before);
      const states = statesOf(start, planFor(start, after));
      const [old, target] = [allowedIn(start), allowedIn(provisioned(after))];
      for (const state of states) {
        const allowed = [...allowedIn(state)];
        expect(allowed.every((right) => old.has(right)) || allowed.every((right) => target.has(right))).toBe(true);
        expect(sorted(provisioned(after, state))).toEqual(sorted(provisioned(after)));
      }
    }),
    { numRuns: thorough ? 300 : 60 },
  );
});

test('a WABA that from now on keeps each client to its own DIDs is narrowed before anything is granted (D5)', () => {
  const before = provisioningFile(demo, []);
  const wabas = demo.wabas.map((waba) => ({ ...waba, dids: 'own' }));
  const campaigns = [...demo.campaigns, { campaign_id: 12, client_id: 1001, name: 'New' }];
  const { revocations, lines } = planFor(provisioned(before), provisioningFile({ ...demo, wabas, campaigns }, []));
  const narrowedDids = revocations.filter(({ key }) => key.sk === 'DID').map(({ set }) => set);
  expect(narrowedDids).toHaveLength(3);
  for (const set of narrowedDids) expect(set).toMatchObject({ waba: { dids: 'own' } });
  expect(lines.map(lineText)).toContain('~ WABA membership 200000000000001 of client 1001: dids');

  const back = planFor(provisioned(provisioningFile({ ...demo, wabas }, [])), before);
  expect([back.revocations, back.grants.length > 0]).toEqual([[], true]);
});

test('who has stopped is left alone by what either file says before anything is granted (D55)', () => {
  const heeding = (clientId: number, widened: string) =>
    demoWith(({ clients, wabas }) => ({
      clients: clients.map((each) => ({ ...each, opt_outs_for_utility: each.client_id === clientId })),
      wabas: wabas.map((each) => ({ ...each, platform_stops: each.waba_id === widened ? 'waba' : 'number' })),
    }));
  const { revocations } = planFor(provisioned(heeding(1001, '200000000000001')), heeding(1002, '200000000000002'));
  const left = revocations.map(({ key, set }) => {
    const { platformStops, utilityStops } = { ...set, ...(set?.['waba'] as object) } as Partial<WabaItem>;
    return `${key.pk} ${platformStops} ${utilityStops}`;
  });
  expect(left.toSorted()).toEqual([
    'CLIENT#1001 waba 1001,1002',
    'CLIENT#1002 waba 1001,1002',
    'CLIENT#1002 waba 1002',
    'DID#5491100000001 waba 1001,1002',
    'DID#5491100000002 waba 1001,1002',
    'DID#5511900000003 waba 1002',
  ]);
  expect(planFor(provisioned(heeding(1001, '200000000000001')), provisioningFile(demo, [])).revocations).toEqual([]);
});

test('a credential is never left behind without its user, by whom the next run finds it', () => {
  fc.assert(
    fc.property(files, files, (before, after) => {
      const start = provisioned(before);
      for (const { items } of statesOf(start, planFor(start, after))) {
        const users = new Set(items.map(({ key }) => key.sk).filter((sk) => sk?.startsWith('USER#') === true));
        const found = items.filter(({ table, key }) => table === 'credentials' && !users.has(key.pk));
        expect(found).toEqual([]);
      }
    }),
  );
});

const demoWith = (change: (file: ProvisioningFile) => Partial<ProvisioningFile>): ProvisioningFile => {
  const file = provisioningFile(demo, []);
  return { ...file, ...change(file) };
};
const linesFor = (file: ProvisioningFile) => planFor(provisioned(provisioningFile(demo, [])), file).lines.map(lineText);

test('a new file is lines of additions, one for each entry, and names no secret', () => {
  const lines = planFor(nothing, provisioningFile(demo, [])).lines.map(lineText);
  expect(lines).toContain('+ WABA membership 200000000000001 of client 1002');
  expect(lines).toContain('+ platform app 500000000000001');
  expect(lines).toHaveLength(19);
  expect(lines.join('\n')).not.toMatch(/demo-/);
});

test.each<readonly [string, (file: ProvisioningFile) => Partial<ProvisioningFile>, readonly string[]]>([
  ['nothing', () => ({}), []],
  [
    'a password and a permission',
    ({ users }) => ({
      users: users.map((user) =>
        user.username === 'agent1001' ? { ...user, password: 'another-1', permissions: ['BSP_CN'] } : user,
      ),
    }),
    ['~ user agent1001: permissions, password'],
  ],
  [
    'a user moves to another client',
    ({ users }) => ({
      users: users.map((user) => (user.username === 'agent1001' ? { ...user, client_id: 1002 } : user)),
    }),
    ['~ user agent1001: client_id'],
  ],
  [
    'a channel goes',
    ({ channels }) => ({ channels: channels.filter(({ channel_id }) => channel_id !== 501) }),
    ['- channel 501', '~ listing of channels: 2 items'],
  ],
  [
    'a number changes its DID',
    ({ channels }) => ({
      channels: channels.map((channel) =>
        channel.channel_id === 501 ? { ...channel, did: '5491100000009' } : channel,
      ),
    }),
    ['~ channel 501: did', '~ listing of channels: 3 items'],
  ],
  [
    'a number sends for an account',
    ({ channels }) => ({
      channels: channels.map((channel) =>
        channel.channel_id === 501 ? { ...channel, messaging_account_id: '9' } : channel,
      ),
    }),
    ['~ channel 501: messaging_account_id'],
  ],
  [
    'a client leaves a WABA',
    ({ wabas, channels }) => ({
      wabas: wabas.map((waba) => (waba.client_ids.length === 2 ? { ...waba, client_ids: [1001] } : waba)),
      channels: channels.filter(({ channel_id }) => channel_id !== 502),
    }),
    [
      '~ WABA membership 200000000000001 of client 1001: client_ids',
      '~ channel 501: waba.client_ids',
      '- WABA membership 200000000000001 of client 1002',
      '- channel 502',
      '~ listing of channels: 2 items',
    ],
  ],
  [
    'a campaign is renamed',
    ({ campaigns }) => ({ campaigns: campaigns.map((each) => ({ ...each, name: 'X' })) }),
    ['~ campaign 10: name', '~ campaign 11: name', '~ campaign 20: name'],
  ],
  [
    "a client's utility messages heed opt-outs",
    ({ clients }) => ({
      clients: clients.map((each) => ({ ...each, opt_outs_for_utility: each.client_id === 1001 })),
    }),
    [
      '~ client 1001: opt_outs_for_utility',
      '~ WABA membership 200000000000001 of client 1001: utility_stops',
      '~ WABA membership 200000000000001 of client 1002: utility_stops',
      '~ channel 501: waba.utility_stops',
      '~ channel 502: waba.utility_stops',
    ],
  ],
  [
    'a client gets a budget (D58)',
    ({ clients }) => ({
      clients: clients.map((each) =>
        each.client_id === 1001 ? { ...each, monthly_budget: { amount: 100, stop: true } } : each,
      ),
    }),
    ['~ client 1001: monthly_budget', '~ channel 501: waba.monthly_budgets', '~ channel 502: waba.monthly_budgets'],
  ],
  [
    "the platform's stops are widened to the WABA",
    ({ wabas }) => ({
      wabas: wabas.map((each) => (each.client_ids.length === 1 ? { ...each, platform_stops: 'waba' as const } : each)),
    }),
    ['~ WABA membership 200000000000002 of client 1002: platform_stops', '~ channel 503: waba.platform_stops'],
  ],
  ['words of opt-outs', () => ({ opt_out_words: { stop: ['basta'] } }), ['+ words of opt-outs']],
  [
    'a token changes',
    () => ({ platform_credentials: [{ name: 'demo', access_token: 'demo-other-token', app_id: '500000000000001' }] }),
    ['~ platform credential demo: access_token'],
  ],
])('the lines say what changes, by the names of the file: %s', (_, change, lines) => {
  const shown = linesFor(demoWith(change));
  expect(shown.toSorted()).toEqual(lines.toSorted());
  expect(shown.join('\n')).not.toMatch(/another-1|demo-/);
});

test('of the words, a line says which list changes or goes; without any they are a removal, and the shipped ones count', () => {
  const files = [{ stop: ['basta'], start: ['alta'] }, { stop: ['fin'] }, undefined].map((opt_out_words) =>
    demoWith(() => ({ opt_out_words })),
  );
  const [both, one, none] = files;
  if (both === undefined || one === undefined || none === undefined) throw new Error('no file');
  const linesOf = (from: ProvisioningFile, to: ProvisioningFile) => planFor(provisioned(from), to).lines.map(lineText);
  expect(linesOf(both, one)).toEqual(['~ words of opt-outs: stop, start']);
  expect(linesOf(one, none)).toEqual(['- words of opt-outs']);
});

test('a number that no longer sends for an account of its own is a line too, and is never away in between', () => {
  const named = demoWith(({ channels }) => ({
    channels: channels.map((channel) => ({ ...channel, messaging_account_id: '9' })),
  }));
  const { lines, revocations, grants } = planFor(provisioned(named), provisioningFile(demo, []));
  const channels = ['501', '502', '503'];
  expect(lines.map(lineText)).toEqual(channels.map((id) => `~ channel ${id}: messaging_account_id`));
  expect([revocations, grants.map(({ key }) => key.sk)]).toEqual([[], ['DID', 'DID', 'DID']]);
});

const rotated = {
  ...at(demo.platform_apps),
  app_secret: 'demo-new-secret',
  previous_app_secret: 'demo-app-secret',
};

test('of an app, what changes is said by its fields, never a secret, and that the one before is no longer valid', () => {
  const [before, during, after] = [demo.platform_apps, [rotated], [{ ...rotated, previous_app_secret: undefined }]].map(
    (platform_apps) => provisioningFile({ ...demo, platform_apps }, []),
  );
  if (before === undefined || during === undefined || after === undefined) throw new Error('no file');
  const linesOf = (from: ProvisioningFile, to: ProvisioningFile) => planFor(provisioned(from), to).lines.map(lineText);
  expect(linesOf(before, during)).toEqual(['~ platform app 500000000000001: previous_app_secret, app_secret']);
  expect(linesOf(during, after)).toEqual(['~ platform app 500000000000001: previous_app_secret']);
  expect(planFor(provisioned(during), after)).toMatchObject({ revocations: [], grants: [] });
});

test('a DID knows the app that tells of it, and forgets it with the app', () => {
  const apps = (file: Partial<ProvisioningFile>) =>
    sorted(provisioned({ ...provisioningFile(demo, []), ...file }, provisioned(provisioningFile(demo, []))))
      .items.filter(({ key }) => key.sk === 'DID')
      .map(({ attributes }) => (attributes['waba'] as Record<string, unknown>)['appId']);
  expect(apps({})).toEqual(Array(3).fill('500000000000001'));
  expect(apps({ platform_apps: [] })).toEqual(Array(3).fill(undefined));
});

function at<T>(list: readonly T[]): T {
  if (list[0] === undefined) throw new Error('the list is empty');
  return list[0];
}

test('a copy that an earlier run left out of step is set right, and the line says so', () => {
  const file = provisioningFile(demo, []);
  const whole = provisioned(file);
  const items = whole.items.map((item) =>
    item.key.pk === 'CLIENTS' ? { ...item, attributes: { clientId: 0 } } : item,
  );
  const broken = { ...whole, items: items.filter(({ key }) => key.pk !== 'DID#5491100000001') };
  expect(planFor(broken, file).lines.map(lineText)).toContainEqual(expect.stringMatching(/^~ channel 501: waba/));
  expect(sorted(provisioned(file, broken))).toEqual(sorted(whole));
});

test('items of others in the same table stay', () => {
  const foreign = {
    table: 'directory',
    key: { pk: 'PROVISIONING', sk: 'LOCK' },
    attributes: { owner: 'run' },
  } as const;
  const whole = provisioned(provisioningFile(demo, []));
  const plan = planFor({ ...whole, items: [...whole.items, foreign] }, provisioningFile(demo, []));
  expect(plan).toEqual(nothingToDo);
});

test('a number that changes its credential is away before the old name gets another token', () => {
  const credentials = (token: string) => [
    { name: 'demo', access_token: token, app_id: '1' },
    { name: 'other', access_token: 'token-of-other', app_id: '1' },
  ];
  const start = provisioned(demoWith(() => ({ platform_credentials: credentials('token-1') })));
  const file = demoWith(({ wabas }) => ({
    wabas: wabas.map((waba) => ({ ...waba, credential: 'other' })),
    platform_credentials: credentials('token-2'),
  }));
  const states = statesOf(start, planFor(start, file));
  const rights = states.flatMap((state) => [...allowedIn(state)]);
  expect(rights.filter((right) => right.includes('with token-1'))).not.toEqual([]);
  expect(rights.filter((right) => right.includes('with token-2'))).toEqual([]);
});

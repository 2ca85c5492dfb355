import fc from 'fast-check';
import { expect, test } from 'vitest';
import demo from '../../../infra/local/demo/provisioning.json' with { type: 'json' };
import type { WabaItem } from '../../../lib/access/directory-items.ts';
import { lineText } from '../../../lib/provisioning/plan-lines.ts';
import { type ProvisioningFile, provisioningFile } from '../../../lib/provisioning/provisioning-file.ts';
import { allowedIn, statesOf } from '../../support/provisioned-state.ts';
import { thorough } from '../../support/thorough.ts';
import { files, nothing, planFor, provisioned, sorted } from './provisioning-files.ts';

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

test('wherever a run ends, no caller may do what neither state allows, and the next run completes it (D36)', () => {
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

test('a person who has stopped is left alone by what either file says before anything is granted (D55)', () => {
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

test('a credential is never left behind without its user, by which the next run finds it', () => {
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

const linesOf = (from: ProvisioningFile, to: ProvisioningFile) => planFor(provisioned(from), to).lines.map(lineText);

test('a new file is lines of additions, one for each entry, and names no secret', () => {
  const lines = planFor(nothing, provisioningFile(demo, [])).lines.map(lineText);
  expect(lines).toContain('+ WABA membership 200000000000001 of client 1002');
  expect(lines).toContain('+ platform app 500000000000001');
  expect(lines).toHaveLength(19);
  expect(lines.join('\n')).not.toMatch(/demo-/);
});

/** Changes the entries of a list of the file that one of their fields names. */
const changed =
  <List extends 'users' | 'channels' | 'clients' | 'campaigns' | 'wabas'>(
    list: List,
    isMeant: (entry: ProvisioningFile[List][number]) => boolean,
    change: Partial<ProvisioningFile[List][number]>,
  ) =>
  (file: ProvisioningFile): Partial<ProvisioningFile> => ({
    [list]: file[list].map((entry) => (isMeant(entry) ? { ...entry, ...change } : entry)),
  });
const agent = ({ username }: { readonly username: string }) => username === 'agent1001';
const c501 = ({ channel_id }: { readonly channel_id: number }) => channel_id === 501;
const c1001 = ({ client_id }: { readonly client_id: number }) => client_id === 1001;

test.each<readonly [string, (file: ProvisioningFile) => Partial<ProvisioningFile>, readonly string[]]>([
  ['nothing', () => ({}), []],
  [
    'a password and a permission',
    changed('users', agent, { password: 'another-1', permissions: ['BSP_CN'] }),
    ['~ user agent1001: permissions, password'],
  ],
  ['a user moves to another client', changed('users', agent, { client_id: 1002 }), ['~ user agent1001: client_id']],
  [
    'a channel goes',
    ({ channels }) => ({ channels: channels.filter((channel) => !c501(channel)) }),
    ['- channel 501', '~ listing of channels: 2 items'],
  ],
  [
    'a number changes its DID',
    changed('channels', c501, { did: '5491100000009' }),
    ['~ channel 501: did', '~ listing of channels: 3 items'],
  ],
  [
    'a number sends for an account',
    changed('channels', c501, { messaging_account_id: '9' }),
    ['~ channel 501: messaging_account_id'],
  ],
  [
    'a client leaves a WABA',
    (file) => ({
      ...changed('wabas', ({ client_ids }) => client_ids.length === 2, { client_ids: [1001] })(file),
      channels: file.channels.filter(({ channel_id }) => channel_id !== 502),
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
    changed('campaigns', () => true, { name: 'X' }),
    ['~ campaign 10: name', '~ campaign 11: name', '~ campaign 20: name'],
  ],
  [
    "a client's utility messages heed opt-outs",
    changed('clients', c1001, { opt_outs_for_utility: true }),
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
    changed('clients', c1001, { monthly_budget: { amount: 100, stop: true } }),
    ['~ client 1001: monthly_budget', '~ channel 501: waba.monthly_budgets', '~ channel 502: waba.monthly_budgets'],
  ],
  [
    "the platform's stops are widened to the WABA",
    changed('wabas', ({ client_ids }) => client_ids.length === 1, { platform_stops: 'waba' }),
    ['~ WABA membership 200000000000002 of client 1002: platform_stops', '~ channel 503: waba.platform_stops'],
  ],
  ['words of opt-outs', () => ({ opt_out_words: { stop: ['basta'] } }), ['+ words of opt-outs']],
  [
    'a token changes',
    () => ({ platform_credentials: [{ name: 'demo', access_token: 'demo-other-token', app_id: '500000000000001' }] }),
    ['~ platform credential demo: access_token'],
  ],
])('the lines say what changes, by the names of the file: %s', (_, change, lines) => {
  const shown = linesOf(provisioningFile(demo, []), demoWith(change));
  expect(shown.toSorted()).toEqual(lines.toSorted());
  expect(shown.join('\n')).not.toMatch(/another-1|demo-/);
});

test('of the words, a line says which list changes or goes; without any they are a removal, and the shipped ones count', () => {
  const both = demoWith(() => ({ opt_out_words: { stop: ['basta'], start: ['alta'] } }));
  const one = demoWith(() => ({ opt_out_words: { stop: ['fin'] } }));
  const none = demoWith(() => ({ opt_out_words: undefined }));
  expect(linesOf(both, one)).toEqual(['~ words of opt-outs: stop, start']);
  expect(linesOf(one, none)).toEqual(['- words of opt-outs']);
});

test('a number that no longer sends for an account of its own is a line too, and is never away in between', () => {
  const named = demoWith(changed('channels', () => true, { messaging_account_id: '9' }));
  const { lines, revocations, grants } = planFor(provisioned(named), provisioningFile(demo, []));
  const channels = ['501', '502', '503'];
  expect(lines.map(lineText)).toEqual(channels.map((id) => `~ channel ${id}: messaging_account_id`));
  expect([revocations, grants.map(({ key }) => key.sk)]).toEqual([[], ['DID', 'DID', 'DID']]);
});

test('of an app, what changes is said by its fields, never a secret, and that the one before is no longer valid', () => {
  const before = provisioningFile(demo, []);
  const withApps = (change: object) =>
    demoWith(() => ({ platform_apps: before.platform_apps?.map((app) => ({ ...app, ...change })) }));
  const during = withApps({ app_secret: 'demo-new-secret', previous_app_secret: 'demo-app-secret' });
  const after = withApps({ app_secret: 'demo-new-secret' });
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

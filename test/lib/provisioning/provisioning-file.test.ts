import fc from 'fast-check';
import { expect, test } from 'vitest';
import demo from '../../../infra/local/demo/provisioning.json' with { type: 'json' };
import { routes } from '../../../infra/routes.ts';
import type { Fault } from '../../../lib/http/refusal.ts';
import {
  ProvisioningFaults,
  provisioningFile,
  reservedPathWords,
} from '../../../lib/provisioning/provisioning-file.ts';
import { rows } from '../../support/rows.ts';

type Demo = typeof demo;

function demoWith(change: (file: Demo) => unknown): Demo {
  const file = structuredClone(demo);
  change(file);
  return file;
}

function faultsOf(data: unknown, storedCredentials: readonly string[] = []): readonly Fault[] {
  try {
    provisioningFile(data, storedCredentials);
  } catch (error) {
    if (error instanceof ProvisioningFaults) return error.faults;
    throw error;
  }
  return [];
}

function at<T>(list: readonly T[], index: number): T {
  const entry = list[index];
  if (entry === undefined) throw new Error(`the demo file has no entry ${index}`);
  return entry;
}

test('the demo file is sound', () => {
  expect(provisioningFile(demo, []).users).toHaveLength(4);
});

test('platform credentials may be left out of the file once they are stored', () => {
  const { platform_credentials: _, ...rest } = demo;
  expect(faultsOf(rest, ['demo'])).toEqual([]);
  expect(faultsOf(rest).map(({ path }) => path)).toEqual(['wabas[0].credential', 'wabas[1].credential']);
});

test('a stored hash may stand in the place of a password', () => {
  const hashed = demoWith(({ users }) => {
    const user: Record<string, unknown> = at(users, 0);
    user['password'] = undefined;
    user['password_hash'] = `$argon2id$v=19$m=19456,t=2,p=1$${'A'.repeat(22)}$${'A'.repeat(43)}`;
  });
  expect(faultsOf(JSON.parse(JSON.stringify(hashed)))).toEqual([]);
});

test.each([undefined, '', ' '])('a channel whose name is %j has none', (name) => {
  expect(provisioningFile(demoWith(set('name', name, channel)), []).channels[0]?.name).toBe('');
});

test.each(['a', 'a'.repeat(128), 'Ana.Lopez_2@example.com+test-1'])('a user may be called %s', (username) => {
  expect(faultsOf(demoWith(set('username', username, user)))).toEqual([]);
});

const set =
  (key: string, value: unknown, of: (file: Demo) => object) =>
  (file: Demo): void => {
    (of(file) as Record<string, unknown>)[key] = value;
  };
const words = (lists: object) => set('opt_out_words', lists, (file) => file);
const client = (file: Demo) => at(file.clients, 1);
const waba = (file: Demo) => at(file.wabas, 0);
const channel = (file: Demo) => at(file.channels, 0);
const campaign = (file: Demo) => at(file.campaigns, 0);
const user = (file: Demo) => at(file.users, 1);
const credential = (file: Demo) => at(file.platform_credentials, 0);
const app = (file: Demo) => at(file.platform_apps, 0);

const entries = { file: (file: Demo) => file, client, waba, channel, campaign, user, credential, app };
const inText = rows`
  a list is missing | file | users |  | users
  an unknown list | file | extra | [] | extra
  an unknown field | client | extra | 1 | clients[1].extra
  a client id of text | client | client_id | "1001" | clients[1].client_id
  an empty name | client | name | " " | clients[1].name
  a WABA without clients | waba | client_ids | [] | wabas[0].client_ids channels[0].client_id channels[1].client_id
  an unknown client of a WABA | waba | client_ids | [1001,1002,7] | wabas[0].client_ids[2]
  a client of a WABA twice | waba | client_ids | [1001,1002,1001] | wabas[0].client_ids[2]
  an unknown credential | waba | credential | "other" | wabas[0].credential
  an unknown WABA | channel | waba_id | "7" | channels[0].waba_id
  a channel of a client outside the WABA | channel | client_id | 1 | channels[0].client_id
  a channel id twice | channel | channel_id | 502 | channels[1].channel_id
  a DID twice | channel | did | "5491100000002" | channels[1].did
  a phone number id twice | channel | phone_number_id | "300000000000003" | channels[2].phone_number_id
  a DID with a plus | channel | did | "+5491100000001" | channels[0].did
  a DID with text behind | channel | did | "5491100000001 home" | channels[0].did
  a DID with a line in front | channel | did | "1\n5491100000001" | channels[0].did
  a DID of 4 digits | channel | did | "5491" | channels[0].did
  a channel name that is null | channel | name | null | channels[0].name
  a throughput of zero | channel | throughput_per_second | 0 | channels[0].throughput_per_second
  an account id of letters | channel | messaging_account_id | "waba" | channels[0].messaging_account_id
  an account id that is a number | channel | messaging_account_id | 2 | channels[0].messaging_account_id
  a campaign of an unknown client | campaign | client_id | 7 | campaigns[0].client_id users[1].campaign_ids[0]
  a campaign id twice | campaign | campaign_id | 11 | campaigns[1].campaign_id users[1].campaign_ids[0]
  a campaign called 'Unassigned' | campaign | name | "Unassigned" | campaigns[0].name
  another client's campaign on a user | user | campaign_ids | [10,20] | users[1].campaign_ids[1]
  an unknown campaign on a user | user | campaign_ids | [10,99] | users[1].campaign_ids[1]
  a campaign twice on a user | user | campaign_ids | [10,10] | users[1].campaign_ids[1]
  a permission of two words | user | permissions | ["A BSP_CN"] | users[1].permissions[0]
  a permission that there is none of | user | permissions | ["OTHER"] | users[1].permissions[0]
  a permission in lower case | user | permissions | ["bsp_cn"] | users[1].permissions[0]
  a permission twice | user | permissions | ["BSP_CN","BSP_CN"] | users[1].permissions[1]
  a user name twice | user | username | "operator" | users[1].username
  a user name that differs by letter case only | user | username | "Operator" | users[1].username
  stops for neither the number nor the WABA | waba | platform_stops | "client" | wabas[0].platform_stops
  a word for whether utility heeds opt-outs | client | opt_outs_for_utility | "yes" | clients[1].opt_outs_for_utility
  a zone that there is none of | client | zone | "Europe/Atlantis" | clients[1].zone
  an offset for a zone | client | zone | "+01:00" | clients[1].zone
  a short name, which is Cairo to the runtime | client | zone | "ART" | clients[1].zone
  a budget of nothing | client | monthly_budget | {"amount":0} | clients[1].monthly_budget.amount
  a budget in parts of a cent | client | monthly_budget | {"amount":1.005} | clients[1].monthly_budget.amount
  a budget that is text | client | monthly_budget | {"amount":"1"} | clients[1].monthly_budget.amount
  a budget with a slip | client | monthly_budget | {"amount":1,"stops":true} | clients[1].monthly_budget.stops
  a stop word that starts by the shipped list | file | opt_out_words | {"stop":["fin","Álta!"]} | opt_out_words.stop[1]
  a start word that stops by the shipped list | file | opt_out_words | {"start":["S.T.O.P."]} | opt_out_words.start[0]
  DIDs for neither all nor the own | waba | dids | "all" | wabas[0].dids
  a user name with a number sign | user | username | "a#b" | users[1].username
  a user name that begins with a blank | user | username | " a" | users[1].username
  a user name that ends with a line | user | username | "a\n" | users[1].username
  a user name without a letter | user | username | "" | users[1].username
  neither password nor hash | user | password |  | users[1]
  a short password | user | password | "canary" | users[1].password
  a password that is a number | user | password | 12345678 | users[1].password
  a hash of another kind | user | password_hash | "$2b$10$canary" | users[1].password_hash users[1]
  a short access token | credential | access_token | "canary" | platform_credentials[0].access_token
  a short app secret | app | app_secret | "canary" | platform_apps[0].app_secret
  an app secret that is a number | app | app_secret | 12345678 | platform_apps[0].app_secret
  a short previous app secret | app | previous_app_secret | "canary" | platform_apps[0].previous_app_secret
  a short verify token | app | verify_token | "canary" | platform_apps[0].verify_token
  an app without id | app | id |  | platform_apps[0].id
  an app of an unknown WABA | app | wabas | ["7"] | platform_apps[0].wabas[0]
  a WABA twice in an app | app | wabas | ["200000000000001","200000000000001"] | platform_apps[0].wabas[1]
`.map(([what = '', of, key = '', json, paths = '']): Refused => {
  const value = json === '' ? undefined : JSON.parse(json ?? '');
  return [what, set(key, value, entries[of as keyof typeof entries]), paths.split(' ')];
});
type Refused = readonly [string, (file: Demo) => unknown, readonly string[]];

test.each<Refused>([
  ...inText,
  [
    'a WABA id with letters',
    set('waba_id', '2#1', waba),
    ['wabas[0].waba_id', 'channels[0].waba_id', 'channels[1].waba_id', 'platform_apps[0].wabas[0]'],
  ],
  ['a DID of 21 digits', set('did', '1'.repeat(21), channel), ['channels[0].did']],
  ['a client twice', ({ clients }) => clients.push({ client_id: 1, name: 'Again' }), ['clients[3].client_id']],
  ['a WABA twice', ({ wabas }) => wabas.push(at(wabas, 1)), ['wabas[2].waba_id']],
  ['a user of an unknown client', set('client_id', 7, ({ users }) => at(users, 2)), ['users[2].client_id']],
  ['no word that stops', words({ stop: [], stop_buttons: [] }), ['opt_out_words.stop', 'opt_out_words.stop_buttons']],
  [
    'words without letters or digits',
    words({ stop: ['fin', '🛑!'], start: ['...'] }),
    ['opt_out_words.stop[1]', 'opt_out_words.start[0]'],
  ],
  ['a word of 101 characters', words({ stop_buttons: ['a'.repeat(101)] }), ['opt_out_words.stop_buttons[0]']],
  ['201 words', words({ start: Array.from({ length: 201 }, (_, index) => `go ${index}`) }), ['opt_out_words.start']],
  [
    'a word that stops and starts',
    words({ stop: ['fin', 'Álta!'], start: ['volver', 'alta'] }),
    ['opt_out_words.start[1]'],
  ],
  [
    'words that are none, and an unknown list',
    words({ stop: [1], pause: ['x'] }),
    ['opt_out_words.pause', 'opt_out_words.stop[0]'],
  ],
  ['a user name of 129 letters', set('username', 'a'.repeat(129), user), ['users[1].username']],
  [
    'both password and hash',
    set('password_hash', `$argon2id$v=19$m=19456,t=2,p=1$${'A'.repeat(22)}$${'A'.repeat(43)}`, user),
    ['users[1]'],
  ],
  [
    'neither password nor hash, and something else wrong with the user',
    (file) => {
      set('password', undefined, user)(file);
      set('client_id', 'x', user)(file);
    },
    ['users[1]', 'users[1].client_id', 'users[1].client_id', 'users[1].campaign_ids[0]', 'users[1].campaign_ids[1]'],
  ],
  [
    'a WABA of two apps, which share a secret',
    ({ platform_apps }) =>
      (platform_apps as unknown[]).push({
        ...at(platform_apps, 0),
        id: '5',
        app_secret: 'canary-secret',
        previous_app_secret: 'demo-app-secret',
        wabas: ['200000000000002'],
      }),
    ['platform_apps[1].wabas[0]', 'platform_apps[1].previous_app_secret'],
  ],
  [
    'an app twice',
    ({ platform_apps }) => platform_apps.push({ ...at(platform_apps, 0), app_secret: 'another-secret', wabas: [] }),
    ['platform_apps[1].id'],
  ],
  [
    'a credential called __proto__',
    set('name', '__proto__', credential),
    ['platform_credentials[0].name', 'wabas[0].credential', 'wabas[1].credential'],
  ],
])('refused with the path: %s', (_, change, paths) => {
  const faults = faultsOf(JSON.parse(JSON.stringify(demoWith(change))));
  expect(faults.map(({ path }) => path).toSorted()).toEqual([...paths].toSorted());
  expect(JSON.stringify(faults)).not.toMatch(/canary|12345678/);
});

test('a fault of one kind hides none of another: shape, value, unknown field, double, reference', () => {
  const broken = demoWith((file) => {
    set('client_id', '1001', client)(file);
    set('extra', 1, client)(file);
    set('constructor', 1, client)(file);
    set('nothing', [], () => file)(file);
    set('throughput_per_second', 0, channel)(file);
    set('channel_id', 502, channel)(file);
    set('permissions', 'BSP_CN', user)(file);
    set('campaign_ids', [20, 99], user)(file);
    set('credential', 'other', waba)(file);
    (file.users as unknown[]).push(null);
  });
  expect(faultsOf(JSON.parse(JSON.stringify(broken))).map(({ path }) => path)).toEqual([
    'clients[1].client_id',
    'channels[0].throughput_per_second',
    'users[1].permissions',
    'users[4]',
    'clients[1].extra',
    'clients[1].constructor',
    'nothing',
    'channels[1].channel_id',
    'wabas[0].credential',
    'users[1].campaign_ids[0]',
    'users[1].campaign_ids[1]',
  ]);
});

test('every unknown field is named, one called __proto__ too, and faults of the text come with the others', () => {
  const text = JSON.stringify({ ...demo, a: 1, b: 1 }).replace('"a":', '"__proto__":');
  const fault = { path: 'users', message: 'the key is there twice' };
  try {
    provisioningFile(JSON.parse(text), [], [fault]);
  } catch (error) {
    expect((error as ProvisioningFaults).faults).toEqual([
      fault,
      { path: '__proto__', message: 'unrecognized field: __proto__' },
      { path: 'b', message: 'unrecognized field: b' },
    ]);
  }
  expect.assertions(1);
});

test('whatever the file holds, judging it ends in a file or in faults', () => {
  const values = fc.oneof(fc.jsonValue(), fc.constantFrom(1001, '1001', 'operator', null, [null], [[1001]], {}));
  const lists = ['clients', 'wabas', 'channels', 'campaigns', 'users', 'platform_credentials'] as const;
  const fields = ['client_id', 'client_ids', 'waba_id', 'campaign_ids', 'username', 'permissions', 'credential', 'did'];
  const changes = fc.array(
    fc.record({ list: fc.constantFrom(...lists), at: fc.nat(3), field: fc.constantFrom(...fields), value: values }),
    { maxLength: 5 },
  );
  const wholeLists = fc.dictionary(fc.constantFrom(...lists), values, { maxKeys: 2 });
  fc.assert(
    fc.property(changes, wholeLists, (drawn, replaced) => {
      const file: Record<string, unknown> = { ...structuredClone(demo), ...replaced };
      for (const { list, at: index, field, value } of drawn) {
        const entry = Array.isArray(file[list]) ? file[list][index] : undefined;
        if (entry !== null && typeof entry === 'object') entry[field] = value;
      }
      const faults = faultsOf(JSON.parse(JSON.stringify(file)));
      expect(faults.every(({ path, message }) => typeof path === 'string' && message !== '')).toBe(true);
    }),
  );
});

test.each([...reservedPathWords])('a DID called %s is refused as a word of a route (D36, R2)', (word) => {
  const faults = faultsOf(demoWith((file) => set('did', word, channel)(file)));
  expect(faults).toContainEqual({ path: 'channels[0].did', message: 'is a word of a route and cannot be a DID' });
});

test('every word of a route below /v1/templates/, where DIDs and template ids stand, is reserved (R2)', () => {
  const words = routes
    .filter(({ path }) => path.startsWith('/v1/templates/'))
    .flatMap(({ path }) => path.split('/').slice(3))
    .filter((segment) => !segment.startsWith('{'));
  expect(words).toContain('sync-from-platform');
  expect(words.filter((word) => !reservedPathWords.has(word))).toEqual([]);
});

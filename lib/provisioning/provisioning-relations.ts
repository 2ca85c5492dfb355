import type { Fault } from '../http/refusal.ts';
import { folded, stopWords } from '../opt-outs/stop-words.ts';

type Entry = Readonly<Record<string, unknown>>;

/** A file has these lists, if present. The schema reports entries and values of a wrong kind. */
interface Lists {
  readonly clients: readonly Entry[] | undefined;
  readonly wabas: readonly Entry[] | undefined;
  readonly channels: readonly Entry[] | undefined;
  readonly campaigns: readonly Entry[] | undefined;
  readonly users: readonly Entry[] | undefined;
  readonly platform_credentials: readonly Entry[] | undefined;
  readonly platform_apps: readonly Entry[] | undefined;
}

/**
 * Finds faults between entries: duplicates and wrong references. It compares ids of the raw file as text, so that a
 * value of a wrong kind hides no fault.
 */
export function relationFaults(data: unknown, storedCredentials: Iterable<string>): Fault[] {
  const file = listsOf(data);
  return [
    ...doubles(file),
    ...wabaFaults(file, storedCredentials),
    ...channelFaults(file),
    ...ownerFaults(file),
    ...appFaults(file),
    ...wordFaults(entryOf(entryOf(data)['opt_out_words'])),
  ];
}

function listsOf(data: unknown): Lists {
  const given = entryOf(data);
  const list = (name: keyof Lists) => (Array.isArray(given[name]) ? given[name].map(entryOf) : undefined);
  const optional = (name: keyof Lists) => (given[name] === undefined ? [] : list(name));
  return {
    clients: list('clients'),
    wabas: list('wabas'),
    channels: list('channels'),
    campaigns: list('campaigns'),
    users: list('users'),
    platform_credentials: optional('platform_credentials'),
    platform_apps: optional('platform_apps'),
  };
}

function entryOf(value: unknown): Entry {
  return value !== null && typeof value === 'object' ? (value as Entry) : {};
}

/** Returns undefined for values that are no id or name. */
function textOf(value: unknown): string | undefined {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : undefined;
}

function valuesOf(entry: Entry, key: string): readonly unknown[] {
  const values = entry[key];
  return Array.isArray(values) ? values : [];
}

function doubles(file: Lists): Fault[] {
  const { clients, wabas, channels, campaigns, users, platform_credentials, platform_apps } = file;
  const unique = (list: string, entries: readonly Entry[] = [], keys: readonly string[]) =>
    keys.flatMap((key) =>
      repeated(
        entries.map((entry) => entry[key]),
        (index) => `${list}[${index}].${key}`,
      ),
    );
  const within = (list: string, entries: readonly Entry[] = [], keys: readonly string[]) =>
    entries.flatMap((entry, at) =>
      keys.flatMap((key) => repeated(valuesOf(entry, key), (index) => `${list}[${at}].${key}[${index}]`)),
    );
  return [
    ...unique('clients', clients, ['client_id']),
    ...unique('wabas', wabas, ['waba_id']),
    ...unique('channels', channels, ['channel_id', 'did', 'phone_number_id']),
    ...unique('campaigns', campaigns, ['campaign_id']),
    ...unique('users', users, ['username']),
    ...alikeUsernames(users ?? []),
    ...unique('platform_credentials', platform_credentials, ['name']),
    ...unique('platform_apps', platform_apps, ['id']),
    ...within('wabas', wabas, ['client_ids']),
    ...within('users', users, ['permissions', 'campaign_ids']),
  ];
}

function repeated(values: readonly unknown[], pathAt: (index: number) => string): Fault[] {
  const texts = values.map(textOf);
  return texts.flatMap((text, index) =>
    text === undefined || texts.indexOf(text) === index
      ? []
      : [{ path: pathAt(index), message: `${text} is there twice, at ${pathAt(texts.indexOf(text))} first` }],
  );
}

/** A login distinguishes letter case, but people do not. */
function alikeUsernames(users: readonly Entry[]): Fault[] {
  const names = users.map(({ username }) => textOf(username));
  const lowered = names.map((name) => name?.toLowerCase());
  return names.flatMap((name, index) => {
    const first = name === undefined ? index : lowered.indexOf(lowered[index]);
    if (first === index || names.indexOf(name) !== index) return [];
    const message = `${name} differs from users[${first}].username only by letter case`;
    return [{ path: `users[${index}].username`, message }];
  });
}

/** Finds none for a value of a wrong kind or a missing list. */
function unknown(
  path: string,
  { what, value, known }: { what: string; value: unknown; known: ReadonlySet<string> | undefined },
): Fault[] {
  const text = textOf(value);
  if (text === undefined || known === undefined || known.has(text)) return [];
  return [{ path, message: `${what} ${text} is not in the file` }];
}

function textsOf(entries: readonly Entry[] | undefined, key: string): ReadonlySet<string> | undefined {
  return entries && new Set(entries.flatMap((entry) => textOf(entry[key]) ?? []));
}

function wabaFaults({ clients, wabas = [], platform_credentials }: Lists, stored: Iterable<string>): Fault[] {
  const clientIds = textsOf(clients, 'client_id');
  const given = textsOf(platform_credentials, 'name');
  const credentials = given && new Set([...stored, ...given]);
  return wabas.flatMap((waba, at) => [
    ...valuesOf(waba, 'client_ids').flatMap((value, index) =>
      unknown(`wabas[${at}].client_ids[${index}]`, { what: 'client', value, known: clientIds }),
    ),
    ...unknown(`wabas[${at}].credential`, {
      what: 'platform credential',
      value: waba['credential'],
      known: credentials,
    }),
  ]);
}

function channelFaults({ wabas, channels = [] }: Lists): Fault[] {
  const wabaIds = textsOf(wabas, 'waba_id');
  return channels.flatMap(({ waba_id, client_id }, at) => {
    const waba = wabas?.find((each) => textOf(each['waba_id']) === textOf(waba_id));
    if (waba === undefined || textOf(waba_id) === undefined) {
      return unknown(`channels[${at}].waba_id`, { what: 'WABA', value: waba_id, known: wabaIds });
    }
    const clientIds = valuesOf(waba, 'client_ids').map(textOf);
    const client = textOf(client_id);
    if (client === undefined || !Array.isArray(waba['client_ids']) || clientIds.includes(client)) return [];
    const message = `client ${client} does not work with WABA ${textOf(waba_id)}`;
    return [{ path: `channels[${at}].client_id`, message }];
  });
}

function ownerFaults({ clients, campaigns, users }: Lists): Fault[] {
  const known = textsOf(clients, 'client_id');
  const owned = (list: string, entries: readonly Entry[] = []) =>
    entries.flatMap(({ client_id: value }, at) =>
      unknown(`${list}[${at}].client_id`, { what: 'client', value, known }),
    );
  return [...owned('campaigns', campaigns), ...owned('users', users), ...usersCampaignFaults(users ?? [], campaigns)];
}

function usersCampaignFaults(users: readonly Entry[], campaigns: readonly Entry[] | undefined): Fault[] {
  const known = textsOf(campaigns, 'campaign_id');
  const owners = new Map(campaigns?.map((each) => [textOf(each['campaign_id']), textOf(each['client_id'])]));
  return users.flatMap((user, at) =>
    valuesOf(user, 'campaign_ids').flatMap((value, index) => {
      const path = `users[${at}].campaign_ids[${index}]`;
      const [owner, client] = [owners.get(textOf(value)), textOf(user['client_id'])];
      if (owner === undefined) return unknown(path, { what: 'campaign', value, known });
      if (client === undefined || owner === client) return [];
      return [{ path, message: `campaign ${value} belongs to client ${owner}` }];
    }),
  );
}

/** A WABA has one app. Each secret belongs to one app, or the signer would be ambiguous. */
function appFaults({ wabas, platform_apps = [] }: Lists): Fault[] {
  const known = textsOf(wabas, 'waba_id');
  const named = platform_apps.flatMap((app, at) =>
    valuesOf(app, 'wabas').map((value, index) => ({ value, path: `platform_apps[${at}].wabas[${index}]` })),
  );
  return [
    ...named.flatMap(({ value, path }) => unknown(path, { what: 'WABA', value, known })),
    ...repeated(
      named.map(({ value }) => value),
      (index) => named[index]?.path ?? '',
    ),
    ...sharedSecrets(platform_apps),
  ];
}

/** Names a shared secret by its place only. */
function sharedSecrets(apps: readonly Entry[]): Fault[] {
  const secrets = apps.flatMap((app, at) =>
    ['app_secret', 'previous_app_secret'].map((key) => ({
      at,
      text: textOf(app[key]),
      path: `platform_apps[${at}].${key}`,
    })),
  );
  return secrets.flatMap(({ at, text, path }) =>
    text !== undefined && secrets.some((other) => other.at < at && other.text === text)
      ? [{ path, message: 'is a secret of another app too' }]
      : [],
  );
}

/** A word has one meaning, even between a list of the file and a shipped one. The fault is in the file's list. */
function wordFaults(words: Entry): Fault[] {
  const given = (key: 'stop' | 'start') => (Array.isArray(words[key]) ? (words[key] as unknown[]) : undefined);
  const clashes = (key: 'stop' | 'start', other: 'stop' | 'start') => {
    const others = new Set((given(other) ?? stopWords[other]).map((word) => folded(textOf(word) ?? '')));
    return (given(key) ?? []).flatMap((word, index) => {
      const fold = folded(textOf(word) ?? '');
      if (fold === '' || !others.has(fold)) return [];
      return [{ path: `opt_out_words.${key}[${index}]`, message: `${textOf(word)} is a ${other} word too` }];
    });
  };
  // If the file has both lists, each pair is reported once.
  return [...clashes('start', 'stop'), ...(given('start') === undefined ? clashes('stop', 'start') : [])];
}

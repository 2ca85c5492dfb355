import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { tableOf } from '../../../lib/aws/table.ts';
import type { HintMessage } from '../../../lib/hints/hint-message.ts';
import { callsAnHour, gatherMs } from '../../../lib/hints/hint-state.ts';
import { hintStore } from '../../../lib/hints/hint-store.ts';
import { type HintPorts, processHints } from '../../../lib/hints/process-hints.ts';
import { applyAccountUpdates } from '../../../lib/messages/holds/account-updates.ts';
import { holdStore } from '../../../lib/messages/holds/hold-store.ts';
import { platformTransport } from '../../../lib/platform/transport.ts';
import type { AccountUpdate } from '../../../lib/platform/webhook/account-update.ts';
import { platformTemplates } from '../../../lib/templates/model/platform-templates.ts';
import type { TemplateRow } from '../../../lib/templates/model/row.ts';
import { templateStore } from '../../../lib/templates/model/template-store.ts';
import { runSync } from '../../../lib/templates/sync/sync.ts';
import { syncLockStore } from '../../../lib/templates/sync/sync-lock-store.ts';
import { noCounts } from '../../../lib/templates/sync/sync-message.ts';
import type { ServiceEvent } from '../../../lib/webhooks/event.ts';
import { makeWaba, memoryDirectory } from '../../support/directory.ts';
import { MemoryEvents } from '../../support/memory-events.ts';
import { startPlatform, type TestPlatform } from '../../support/model/service.ts';
import { noTemplateHolds } from '../../support/no-template-holds.ts';
import { freshTable, localDocumentClient } from '../../support/stores.ts';
import { thorough } from '../../support/thorough.ts';

/** Hints run against the platform simulator and a real table (D42). */

const waba = makeWaba();
const foreign = makeWaba({ wabaId: '200000000000002', clientIds: [1003] });
const { wabaId } = waba;
const directory = memoryDirectory({ wabas: [waba, foreign], clientIds: [1001, 1002, 1003] });
const components = [{ type: 'BODY', text: 'Your order has left our house.' }];
const documentClient = localDocumentClient();

let platform: TestPlatform;
let table: string;
let events: MemoryEvents;
let queue: { readonly hint: HintMessage; readonly atMs: number }[];
let calls: string[];
let refreshed: string[];

beforeAll(async () => {
  platform = await startPlatform();
});
afterAll(() => platform.stop());
beforeEach(async () => {
  await platform.control('POST', 'reset');
  table = await freshTable('templates');
  events = new MemoryEvents();
  [queue, calls, refreshed] = [[], [], []];
});

const nowMs = () => platform.clock.nowMs;
const templates = () => templateStore(documentClient, table);
const transport = () => platformTransport({ baseUrl: platform.url, version: 'v26.0', timeoutMs: 5_000 });
const credentialOf = async () => ({ accessToken: 'demo-platform-token', appId: '100000000000001' });

const upstream: HintPorts['upstream'] = (allowance) => ({
  platform: platformTemplates(
    allowance.within(async (call) => {
      calls.push(call.path);
      return await transport()(call);
    }),
    credentialOf,
  ),
  refreshChannels: async ({ wabaId: refreshedId }) => {
    refreshed.push(refreshedId);
    return 0;
  },
});

function ports(over: Partial<HintPorts> = {}): HintPorts {
  return {
    ...{ directory, upstream, events, nowMs },
    channels: { numbersOf: async () => [] },
    templateHolds: noTemplateHolds,
    templates: templates(),
    hints: hintStore(documentClient, table, async () => undefined),
    queue: {
      sendLater: async (hint, delaySeconds) => {
        queue.push({ hint, atMs: nowMs() + delaySeconds * 1_000 });
      },
    },
    pause: async () => undefined,
    remainingMs: () => 60_000,
    applyAccountUpdates: async () => Promise.reject(new Error('nothing is said of accounts')),
    ...over,
  };
}

const hintOf = (...templateIds: string[]): HintMessage => ({ version: 1, wabaId, templateIds, numbers: false });
const tell = (hint: HintMessage, over?: Partial<HintPorts>) =>
  processHints([{ messageId: 'm-1', body: JSON.stringify(hint) }], ports(over));

/** Delivers waiting messages at their time until none is left. */
async function settle(): Promise<void> {
  for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
    platform.clock.nowMs = Math.max(nowMs(), next.atMs);
    expect(await tell(next.hint)).toEqual([]);
  }
}

function wordOf(kind: AccountUpdate['kind'], atMs: number, more: Partial<AccountUpdate> = {}): AccountUpdate {
  const word = kind === 'restricted' ? 'DISABLE' : 'REINSTATE';
  return { kind, matter: 'sending', word, code: '131031', atMs, ...more };
}

async function create(name: string, on = wabaId): Promise<string> {
  const template = { name, language: 'en_US', category: 'UTILITY', components, status: 'APPROVED' };
  const { ids } = await platform.control('POST', 'templates', { waba_id: on, templates: [template] });
  return String(ids[0]);
}

async function synchronize(owner: string, over: Partial<HintPorts> = {}): Promise<void> {
  const locks = syncLockStore(documentClient, table);
  const lock = await locks.acquire({ name: 'sync', owner, contender: owner, nowMs: nowMs() });
  if (lock === undefined) throw new Error('the lock is not free');
  await runSync(
    {
      ...ports(over),
      platform: platformTemplates(transport(), credentialOf),
      refreshChannels: async () => 0,
      locks,
    },
    { lock, clientId: 1001, wabaIds: [wabaId], counts: noCounts },
    () => 900_000,
  );
}

const rowsOf = async (clientId: number) => (await templates().rowsOf(clientId)).filter((row) => row.wabaId === wabaId);
const statusOf = async (name: string) =>
  Promise.all([1001, 1002].map(async (id) => (await rowsOf(id)).find((row) => row.name === name)?.status));
const told = () =>
  events.sent
    .filter(({ type }) => type !== 'sync.completed')
    .map(({ type, clientId, data }) => `${type} ${clientId}${'status' in data ? ` ${data.status}` : ''}`)
    .sort();

test('a paused template is paused for every client of the WABA, told each of them once', async () => {
  const id = await create('welcome');
  await synchronize('first');
  await platform.control('POST', `templates/${id}`, { status: 'PAUSED' });
  platform.clock.nowMs += 1_000;
  expect(await tell(hintOf(id))).toEqual([]);
  expect(await statusOf('welcome')).toEqual(['PAUSED', 'PAUSED']);
  expect(told()).toEqual(['template.status_changed 1001 PAUSED', 'template.status_changed 1002 PAUSED']);
  expect(calls).toEqual([id]);
  await tell(hintOf(id));
  await settle();
  expect(told()).toHaveLength(2);
});

test('a template made elsewhere comes in as a synchronization brings it, of the own WABA only', async () => {
  const id = await create('from_outside');
  const theirs = await create('of_others', foreign.wabaId);
  await tell(hintOf(id, theirs));
  expect(await statusOf('from_outside')).toEqual(['APPROVED', 'APPROVED']);
  expect(await statusOf('of_others')).toEqual([undefined, undefined]);
  expect(told()).toEqual([]);
});

test('one that is deleted upstream is marked, and told once', async () => {
  const id = await create('welcome');
  await synchronize('first');
  await platform.control('DELETE', `templates/${id}`);
  platform.clock.nowMs += 1_000;
  await tell(hintOf(id));
  expect((await rowsOf(1002)).map(({ name, deleted }) => [name, deleted])).toEqual([['welcome', true]]);
  platform.clock.nowMs += gatherMs;
  await tell(hintOf(id));
  await synchronize('second');
  expect(told()).toEqual(['template.deleted 1001 APPROVED', 'template.deleted 1002 APPROVED']);
});

test('one that was made again under its name is taken over, told by neither of its ids', async () => {
  const id = await create('welcome');
  await synchronize('first');
  await platform.control('DELETE', `templates/${id}`);
  const newId = await create('welcome');
  platform.clock.nowMs += 1_000;
  await tell(hintOf(id));
  expect((await rowsOf(1002)).map(({ platformId, deleted }) => [platformId, deleted])).toEqual([[newId, false]]);
  expect(calls).toEqual([id, `${wabaId}/message_templates`]);
  expect(told()).toEqual([]);
});

test('one that was created here a moment ago, and that no list has yet, is not gone', async () => {
  const id = await create('welcome');
  await synchronize('first');
  const [row] = await rowsOf(1001);
  const { template } = [...(await templates().storedFacts([String(row?.templateKey)])).values()][0] ?? {};
  if (template === undefined) throw new Error('it is not stored');
  const clientIds = [...waba.clientIds];
  await templates().writeUpstream([{ kind: 'present', wabaId, template, clientIds, readAtMs: nowMs(), asSent: true }]);
  await platform.control('DELETE', `templates/${id}`);
  platform.clock.nowMs += 1_000;
  await tell(hintOf(id));
  expect((await rowsOf(1001)).map(({ deleted }) => deleted)).toEqual([false]);
  expect(told()).toEqual([]);
});

test('a platform that does not answer is asked later, seldom, and everything is read in the end', async () => {
  const id = await create('welcome');
  await synchronize('first');
  await platform.control('POST', `templates/${id}`, { status: 'PAUSED' });
  platform.clock.nowMs += 1_000;
  await platform.control('POST', 'faults', { match: { path: `/${id}` }, action: { status: 503 }, times: 4 });
  const startMs = nowMs();
  await tell(hintOf(id));
  await settle();
  expect(await statusOf('welcome')).toEqual(['PAUSED', 'PAUSED']);
  expect(calls.length).toBeLessThan(callsAnHour / 4);
  expect(nowMs() - startMs).toBeGreaterThan(10 * 60_000);
});

test('numbers are refreshed, and a WABA without clients is passed over', async () => {
  await tell({ ...hintOf(), numbers: true });
  expect(refreshed).toEqual([wabaId]);
  expect(await tell({ ...hintOf('1'), wabaId: '299999999999999' })).toEqual([]);
  expect(calls).toEqual([]);
  expect(await processHints([{ messageId: 'm-2', body: '{"version":1}' }], ports())).toEqual(['m-2']);
});

test('what is said of an account holds its WABA and lets it go on, whatever client has it; what could not be written comes again (D46)', async () => {
  const holds = holdStore(tableOf(documentClient, await freshTable('messages'), { nowMs }));
  const fates = ['lost', 'in vain'];
  const changeHolds: typeof holds.change = async (of, rule) => {
    const fate = fates.shift();
    if (fate === 'lost') throw new Error('the table is away');
    return fate === 'in vain' ? undefined : await holds.change(of, rule);
  };
  const over = { applyAccountUpdates: applyAccountUpdates({ changeHolds, nowMs }) };
  const orphan = '299999999999999';
  const disabled = (of: string) => tell({ ...hintOf(), wabaId: of, account: [wordOf('restricted', nowMs())] }, over);
  expect(await disabled(orphan)).toEqual(['m-1']);
  expect(await disabled(orphan)).toEqual(['m-1']);
  expect((await holds.find(orphan)).holds).toEqual({});
  expect([await disabled(orphan), await disabled(wabaId)]).toEqual([[], []]);
  const held = { waba: { sinceMs: nowMs(), code: '131031', nextAskMs: nowMs() + 10_000, asks: 0 } };
  expect([await holds.find(orphan), await holds.find(wabaId)]).toMatchObject([{ holds: held }, { holds: held }]);
  // The hint state is unavailable: the message comes again, but the word on the account still takes effect.
  const away = { change: async () => Promise.reject(new Error('away')) };
  const reinstated = { ...hintOf(), account: [wordOf('restored', nowMs())] };
  expect(await tell(reinstated, { ...over, hints: away })).toEqual(['m-1']);
  expect((await holds.find(wabaId)).holds).toEqual({});
  expect(await tell(reinstated, over)).toEqual([]);
  expect((await holds.find(orphan)).holds).toEqual(held);
});

const toldOfAccounts = () =>
  events.sent.flatMap(({ id, clientId, type, timestampMs, data }) =>
    type.startsWith('account.') ? [{ id, clientId, type, timestampMs, data }] : [],
  );

test('what is said of an account is told to every client of the WABA, after the holds are written, and once under its id (D41)', async () => {
  const table = await freshTable('messages');
  const holds = holdStore(tableOf(documentClient, table, { nowMs }));
  const order: string[] = [];
  const changeHolds: typeof holds.change = async (of, rule) => {
    const after = await holds.change(of, rule);
    order.push('held');
    return after;
  };
  const ports = { applyAccountUpdates: applyAccountUpdates({ changeHolds, nowMs }) };
  const saidMs = nowMs();
  const restricted = wordOf('restricted', saidMs, { untilMs: saidMs + 3_600_000, remediation: 'Appeal.' });
  const inVain = { send: async () => Promise.reject(new Error('the queue is away')) };
  const hint = { ...hintOf(), account: [restricted] };
  // The run dies after its write: the message comes again, and all events are sent.
  expect(await tell(hint, { ...ports, events: inVain })).toEqual(['m-1']);
  expect((await holds.find(wabaId)).holds.waba).toMatchObject({ code: '131031' });
  const counted = {
    send: async (sent: readonly ServiceEvent[]) => {
      order.push('told');
      await events.send(sent);
    },
  };
  expect(await tell(hint, { ...ports, events: counted })).toEqual([]);
  expect(order).toEqual(['held', 'held', 'told']);
  expect(toldOfAccounts()).toMatchObject(
    [1001, 1002].map((clientId) => ({
      ...{ clientId, type: 'account.restricted', timestampMs: saidMs },
      data: {
        ...{ waba_id: wabaId, scope: 'waba', code: '131031', platform_word: 'DISABLE', remediation: 'Appeal.' },
        until: new Date(saidMs + 3_600_000).toISOString(),
      },
    })),
  );
  expect(distinct(events.sent).size).toBe(2);
  // The hint comes twice, then a second restriction, then its end: each client gets one event for each.
  await tell(hint, ports);
  await tell(
    { ...hintOf(), account: [restricted, wordOf('restricted', saidMs, { word: 'SCHEDULE_FOR_DISABLE' })] },
    ports,
  );
  expect(distinct(toldOfAccounts() as never).size).toBe(4);
  events = new MemoryEvents();
  platform.clock.nowMs += 5_000;
  await tell({ ...hintOf(), account: [wordOf('restored', nowMs())] }, ports);
  await tell(hint, ports);
  expect(toldOfAccounts()).toMatchObject(
    [1001, 1002].map((clientId) => ({
      ...{ clientId, type: 'account.restored', timestampMs: nowMs() },
      data: { waba_id: wabaId, scope: 'waba', code: '131031', platform_word: 'REINSTATE' },
    })),
  );
  expect((await holds.find(wabaId)).holds).toEqual({});
});

/** Receivers deduplicate events by id. */
const distinct = (sent: readonly ServiceEvent[]) => new Set(sent.map(({ id }) => id));
const facts = ({ status, deleted, contentHash }: TemplateRow) => ({ status, deleted, contentHash });

/** Alternates the steps of two runs as the bits say. */
function interleaving(bits: number) {
  const waiting: (() => void)[][] = [[], []];
  let step = 0;
  const pump = () => {
    const first = (bits >> (step % 12)) & 1;
    const turn = waiting[first]?.shift() ?? waiting[1 - first]?.shift();
    step += 1;
    turn?.();
  };
  const timer = setInterval(pump, 1);
  const gate = (who: number) => new Promise<void>((resolve) => waiting[who]?.push(resolve));
  const gated = <Port extends object>(who: number, port: Port): Port =>
    Object.fromEntries(
      Object.entries(port).map(([name, call]) => [
        name,
        async (...given: unknown[]) => {
          await gate(who);
          return await (call as (...all: unknown[]) => unknown)(...given);
        },
      ]),
    ) as Port;
  return { gated, stop: () => clearInterval(timer) };
}

test('a synchronization and a hint at the same moment end in the same rows and one event, however they interleave (R49)', async () => {
  for (let bits = 0; bits < 48; bits += thorough ? 1 : 6) {
    await platform.control('POST', 'reset');
    table = await freshTable('templates');
    const id = await create('welcome');
    await synchronize('first');
    await platform.control('POST', `templates/${id}`, { status: 'PAUSED' });
    platform.clock.nowMs += 1_000;
    events = new MemoryEvents();
    queue = [];
    const { gated, stop } = interleaving(bits * 85 + bits);
    const gatedFor = (who: number) => ({
      templates: gated(who, templates()),
      events: gated(who, { send: events.send.bind(events) }),
    });
    await Promise.all([synchronize('second', gatedFor(0)), tell(hintOf(id), gatedFor(1))]);
    stop();
    const changes = events.sent.filter(({ type }) => type === 'template.status_changed');
    expect([bits, distinct(changes).size]).toEqual([bits, 2]);
    const rows = await Promise.all([1001, 1002].map(rowsOf));
    expect(rows.map(([row]) => row && facts(row).status)).toEqual(['PAUSED', 'PAUSED']);
    expect(new Set(rows.map(([row]) => JSON.stringify(row && facts(row)))).size).toBe(1);
  }
});

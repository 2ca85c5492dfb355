import { isDeepStrictEqual } from 'node:util';
import { PutCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { beforeEach, describe, expect, test } from 'vitest';
import { WouldChange } from '../../../../infra/operate/command.ts';
import { eraseCommand } from '../../../../infra/operate/people/erase.ts';
import type { Item } from '../../../../lib/aws/dynamodb-batch.ts';
import { tableOf } from '../../../../lib/aws/table.ts';
import { parameterStore } from '../../../../lib/messages/accept/parameter-store.ts';
import type { DispatchHead } from '../../../../lib/messages/dispatch/head.ts';
import { acceptedKey, dispatchKey } from '../../../../lib/messages/dispatch/items.ts';
import { sliceStore } from '../../../../lib/messages/dispatch/slice-store.ts';
import { recipientHashOf } from '../../../../lib/messages/pace/known-pace.ts';
import { processReceipts } from '../../../../lib/messages/receipts/process-receipts.ts';
import type { Receipt } from '../../../../lib/messages/receipts/receipt.ts';
import { receiptStore } from '../../../../lib/messages/receipts/receipt-store.ts';
import { outcomesStore } from '../../../../lib/messages/report/outcomes-store.ts';
import { reportStore } from '../../../../lib/messages/report/report-store.ts';
import { optOutLook, optOutWriter } from '../../../../lib/opt-outs/opt-out-store.ts';
import { personKeyText } from '../../../../lib/opt-outs/person-key.ts';
import { recordOptOut } from '../../../../lib/opt-outs/record-opt-out.ts';
import type { ServiceEvent } from '../../../../lib/webhooks/event.ts';
import { eventRecordStore } from '../../../../lib/webhooks/event-record-store.ts';
import { injectFaults } from '../../../support/dynamo-faults.ts';
import { makeDispatch } from '../../../support/made-dispatches.ts';
import { allItems, itemsWith } from '../../../support/names-left.ts';
import { noCosts } from '../../../support/no-costs.ts';
import { operatorAuditInMemory, silent } from '../../../support/operator-audit.ts';
import { putItems } from '../../../support/reported-dispatches.ts';
import { claimOf } from '../../../support/reported-slices.ts';
import { secretsInMemory } from '../../../support/secrets.ts';
import { freshTable, localDocumentClient } from '../../../support/stores.ts';
import { thorough } from '../../../support/thorough.ts';
import {
  accept,
  acceptedAtMs,
  accessTo,
  bulk,
  client,
  elsewhere,
  eventOf,
  headOf,
  key,
  many,
  nameOf,
  nowMs,
  number,
  oldId,
  open,
  others,
  paramsFor,
  pause,
  platformId,
  recipientsOf,
  secret,
  storePerson,
  straight,
  type Tables,
  told,
  userId,
  words,
} from './stored-person.ts';

let tables: Tables;
beforeEach(async () => {
  tables = await storePerson();
});

const audited = operatorAuditInMemory();

async function erase(
  line: string,
  {
    documentClient = client,
    input = '',
    dry = false,
  }: { readonly documentClient?: typeof client; readonly input?: string; readonly dry?: boolean } = {},
): Promise<{
  readonly lines: readonly string[];
  readonly log: Readonly<Record<string, unknown>>;
  readonly error: unknown;
}> {
  const secrets = secretsInMemory();
  await secrets.write('PERSON_KEY_SECRET', personKeyText(key));
  const target = {
    ...{ documentClient, secrets, secretName: (name: string) => name },
    tableName: (name: string) => tables[name as keyof typeof tables],
  };
  const lines: string[] = [];
  const opened = async () => ({ target, stage: undefined, by: async () => 'someone', audit: audited.audit });
  const terminal = {
    ...{ print: (each: string) => void lines.push(each), tell: () => undefined, progress: silent },
    ...{ input: () => input, nowMs: () => nowMs },
  };
  const typed = [...line.split(' '), ...(dry ? [] : ['--yes'])];
  const error = await eraseCommand(typed, opened, terminal).then(
    () => undefined,
    (cause: unknown) => cause,
  );
  const last = lines.at(-1) ?? '{}';
  return { lines, error, log: last.startsWith('{') ? JSON.parse(last) : {} };
}

const itemsOfAll = async () => [
  ...(await allItems(client, tables.messages)),
  ...(await allItems(client, tables.webhooks)),
];
const byKey = (items: readonly Item[]) => new Map(items.map((item) => [`${item['pk']} / ${item['sk']}`, item]));
const changedIn = (before: readonly Item[], after: readonly Item[]) => {
  const later = byKey(after);
  return [...byKey(before)].filter(([name, item]) => !isDeepStrictEqual(item, later.get(name)));
};
const found = async (some: readonly string[] = words) => itemsWith(some, await itemsOfAll()).filter(isNotOthers);
/** Another's id contains the person's number. */
const isNotOthers = (name: string) => !name.includes('evt_others');
/** A run dies at every seventh write; the slow suite tries every write. */
const step = thorough ? 1 : 7;

test('nothing in the tables names the person any more, others are as they were, and the stop refuses (D60)', async () => {
  const before = await itemsOfAll();
  expect((await found()).length).toBeGreaterThan(12);
  const { log, error, lines } = await erase(`--recipient +${number}`);
  expect(error).toBeUndefined();
  const line = { what: 'command.erase', on: { count: 1 } };
  expect(audited.entries).toMatchObject(['begun', 'done'].map((outcome) => ({ ...line, outcome })));
  expect(JSON.stringify(audited.entries)).not.toContain(number);
  // The packed list held the addresses of others as well; they must stay.
  const after = await itemsOfAll();
  expect(itemsWith([userId, oldId, secret], after)).toEqual([]);
  const spelled = itemsWith([number], after).filter(isNotOthers).sort();
  expect(spelled).toEqual([`DISPATCH#${bulk.dispatchId} / RECIPIENTS#0`, `PARAMS#${bulk.dispatchId}#1 / 00625`]);
  expect(itemsWith([`"${number}"`, `"+${number}"`], after)).toEqual([]);
  expect(log).toMatchObject({
    ...{ event: 'person.erased', by: 'someone', people: [nameOf(number).slice(0, 12)], linkedIds: 2, dispatches: 4 },
    ...{ messages: 4, pending: 2, underWay: 0, clean: true },
    changed: { optOutRows: 4, replacedIds: 1, pairs: 1, idempotencyKeys: 1, events: 2, waitingEvents: 1 },
  });
  expect(itemsWith(words, [{ lines }])).toEqual([]);

  const access = accessTo(tables);
  const sender = { clientId: 1001, phoneNumberId: '31', wabaId: '11' };
  const stops = await optOutLook(access, async () => nameOf).stoppedAmong(sender, [number, userId]);
  expect([...stops.keys()]).toEqual([number, userId]);
  const untouched = before.filter((item) => itemsWith([...words, recipientHashOf(`+${number}`)], [item]).length === 0);
  const ofDispatches = new Set([bulk, open, elsewhere, straight].map(({ dispatchId }) => dispatchKey(dispatchId).pk));
  expect(changedIn(untouched, after).filter(([, item]) => !ofDispatches.has(String(item['pk'])))).toEqual([]);
});

test('reports keep the outcome without the person; what was open is not sent any more (D40)', async () => {
  await erase(`--recipient ${number}`);
  const outcomes = outcomesStore(tableOf(client, tables.messages, { nowMs: () => nowMs, pause }));
  const rowsOf = async ({ dispatchId }: DispatchHead) => {
    const dispatch = await outcomes.findStored(dispatchId);
    if (dispatch === undefined) throw new Error('the dispatch is gone');
    return await outcomes.ofDispatch(dispatch);
  };
  const ofBulk = await rowsOf(bulk);
  const at = new Date(told.atMs).getTime();
  expect(ofBulk[1_200]).toEqual({ messageId: `${bulk.dispatchId}-1200`, position: 1_200, state: 'sent', atMs: at });
  expect(ofBulk[1]).toMatchObject({ to: many(2)[1], userId: 'AR.other', platformMessageId: 'wamid.other' });
  expect(ofBulk[1_201]).toMatchObject({ to: others[0], state: 'sent', platformMessageId: 'wamid.120-1' });
  expect((await rowsOf(straight))[0]).toEqual({
    messageId: `${straight.dispatchId}-0`,
    position: 0,
    state: 'sent',
    atMs: at,
  });
  expect((await rowsOf(open))[24]).toEqual({ messageId: `${open.dispatchId}-24`, position: 24, state: 'pending' });
  const read = await parameterStore(tableOf(client, tables.messages)).read(open.dispatchId, 23);
  expect(read).toEqual([{ to: many(24)[23], params: paramsFor(many(24)[23] ?? '') }, {}]);
  const events: ServiceEvent[] = [];
  const kept = eventRecordStore(client, tables.webhooks).pages(1001, { sinceMs: 0, untilMs: nowMs });
  for await (const page of kept) events.push(...page);
  expect(events).toMatchObject([
    { id: eventOf('mine', bulk, '').id, data: { code: '131026', message_id: `${bulk.dispatchId}-0` } },
    { data: { to: others[1] } },
  ]);
});

test('a person who is erased between two receipts leaves the market, by which later ones are priced (D60)', async () => {
  const report = reportStore(tableOf(client, tables.messages, { nowMs: () => nowMs }));
  const marketsOf = async ({ dispatchId }: DispatchHead) => {
    const { recipients = new Map(), erasedMarkets } = (await report.findDescribed(dispatchId)) ?? {};
    return [recipients.size, [...(erasedMarkets ?? [])]];
  };
  const before = (await marketsOf(bulk))[0];
  await erase(`--recipient ${number}`);
  expect(await marketsOf(straight)).toEqual([straight.total - 1, [[0, 'AR']]]);
  expect(await marketsOf(bulk)).toEqual([Number(before) - 1, [[1_200, 'AR']]]);
});

test('a receipt that comes afterwards restores no person', async () => {
  await erase(`--recipient ${number}`);
  const access = accessTo(tables);
  const receipt: Receipt = {
    ...told,
    status: 'failed',
    code: '131026',
    reason: `${number} ?`,
    dispatchId: bulk.dispatchId,
    index: 1_200,
    userId,
  };
  const { wabaId, phoneNumberId } = bulk;
  const body = JSON.stringify({ version: 1, numbers: [{ wabaId, phoneNumberId, receipts: [receipt] }] });
  const sent: ServiceEvent[] = [];
  const failed = await processReceipts([{ messageId: 'm', body }], {
    records: receiptStore(access),
    slices: { findAll: async () => [] },
    addressesOf: async () => new Map(),
    changeHolds: async () => undefined,
    wanted: async () => new Set(['message.failed']),
    events: { send: async (events) => void sent.push(...events) },
    inbound: { send: async () => undefined },
    countCost: noCosts.countCost,
    ...{ nowMs: () => nowMs, remainingMs: () => 60_000, log: () => undefined },
  });
  expect(failed).toEqual([]);
  expect(sent.map(({ type }) => type)).toEqual(['message.failed']);
  expect(itemsWith(words, [...sent.map((event): Item => ({ event: JSON.stringify(event) }))])).toEqual([]);
  expect(itemsWith([userId], await itemsOfAll())).toEqual([]);
});

test('without --yes it counts the same and writes nothing', async () => {
  audited.entries.length = 0;
  const before = await itemsOfAll();
  const { log: dry, error } = await erase(`--recipient ${number}`, { dry: true });
  expect(error).toEqual(new WouldChange('nothing was written: repeat with --yes'));
  const { lines } = await erase(`--recipient ${number} --json`, { dry: true });
  const changed = expect.objectContaining({ idempotency_keys: expect.any(Number) });
  expect(JSON.parse(lines.join('\n'))).toMatchObject({ dry_run: true, log: dry, changed });
  expect([changedIn(before, await itemsOfAll()), audited.entries]).toEqual([[], []]);
  const { log } = await erase('--recipient -', { input: `${number}\n` });
  expect({ ...dry, dryRun: false }).toEqual(log);
});

test('what was sent to the number in its other spelling is the same person (D55)', async () => {
  const plain = '541155550001';
  const head = headOf('SPELLED', 12);
  await accept(tables, head, recipientsOf(...many(11), plain));
  const scope = { kind: 'client', clientId: 1002 } as const;
  const word = { says: 'stopped', atMs: acceptedAtMs + 1, source: 'api' } as const;
  const access = accessTo(tables);
  await recordOptOut({ scope, recipients: [plain], word, listedFor: 1002 }, optOutWriter(access, nameOf));
  const { log } = await erase(`--recipient ${number}`);
  expect(log).toMatchObject({ linkedIds: 2, dispatches: 5, messages: 5 });
  expect(await found([`"${plain}"`, ` ${plain} `])).toEqual([]);
  const rows = (await itemsOfAll()).filter(({ pk }) => String(pk).startsWith('OPTOUTS#'));
  expect(itemsWith([plain], rows)).toEqual([]);
});

/** Another run marks a recipient of the open dispatch, and dies: the address is still there. */
const markedByAnother = (index: number) =>
  client.send(
    new UpdateCommand({
      TableName: tables.messages,
      Key: dispatchKey(open.dispatchId),
      UpdateExpression: 'SET erasing = :true ADD erased :indexes',
      ExpressionAttributeValues: { ':true': true, ':indexes': new Set([index]) },
    }),
  );

test('what another run marks while this one ends stays marked, and no message counts twice', async () => {
  const documentClient = localDocumentClient();
  const send = documentClient.send.bind(documentClient) as (command: unknown) => Promise<unknown>;
  let marks = 0;
  documentClient.send = (async (command: { input: Partial<UpdateCommand['input']> }) => {
    const { Key, UpdateExpression } = command.input;
    if (UpdateExpression === 'REMOVE erasing' && Key?.['pk'] === dispatchKey(open.dispatchId).pk && marks === 0) {
      marks += 1;
      await markedByAnother(3);
    }
    return await send(command);
  }) as typeof documentClient.send;
  const { log, error } = await erase(`--recipient ${number}`, { documentClient });
  expect([error, marks]).toEqual([undefined, 1]);
  // The dispatch was found again by its mark, and the other person left it as well.
  expect(await found([`"${many(25)[3]}"`])).not.toContain(`PARAMS#${open.dispatchId}#0 / 00000`);
  expect(log).toMatchObject({ messages: 5, pending: 3, underWay: 0, clean: true });
  expect((await allItems(client, tables.messages)).filter(({ erasing }) => erasing)).toEqual([]);
});

test('a person that another run has begun to erase in the same dispatch is not taken for this one', async () => {
  const another = many(25)[3] ?? '';
  await accept(tables, headOf('ANOTHER', 11), recipientsOf(...many(11)));
  await markedByAnother(3);
  const { log, error } = await erase(`--recipient ${number}`);
  expect(error).toBeUndefined();
  expect(log).toMatchObject({ linkedIds: 2 });
  expect(await found([`"${another}"`])).toContain(`PARAMS#${headOf('ANOTHER', 11).dispatchId}#0 / 00000`);
});

test("with a client, what is another's stays", async () => {
  const before = await itemsOfAll();
  await erase(`--recipient ${number} --client 1002`);
  const after = await itemsOfAll();
  const changed = changedIn(before, after).map(([name]) => name);
  expect(changed.filter((name) => !/ELSEWHERE|CLIENT#1002|OPTOUTS#client:1002/.test(name))).toEqual([]);
  expect((await found([number])).filter((name) => /ELSEWHERE|CLIENT#1002|OPTOUTS#client:1002/.test(name))).toEqual([]);
  // Only the first client's receipts know the person's other id.
  expect(changed.some((name) => name.startsWith('OPTOUTS#client:1002'))).toBe(true);
});

/** Runs a command that dies at its n-th write: that write and all later ones fail. */
async function eraseDyingAt(dying: number): Promise<{ readonly made: number; readonly error: unknown }> {
  const documentClient = localDocumentClient();
  let made = 0;
  injectFaults(documentClient, (operation) => {
    if (operation !== 'UpdateItemCommand' && operation !== 'DeleteItemCommand') return undefined;
    made += 1;
    const error = Object.assign(new Error('dies'), { name: 'ValidationException' });
    return made >= dying ? { kind: 'throw', error } : undefined;
  });
  const { error } = await erase(`--recipient ${number} --segments 1`, { documentClient });
  return { made, error };
}

test('a run that dies at any write is repeated; no recipient is left who may be called without parameters', async () => {
  const { messages, webhooks } = tables;
  const before = { messages: await allItems(client, messages), webhooks: await allItems(client, webhooks) };
  const deaths: number[] = [];
  for (let dying = 1; ; dying += step) {
    tables = { messages: await freshTable('messages'), webhooks: await freshTable('webhooks') };
    await putItems({ documentClient: client, tableName: tables.messages }, before.messages);
    await putItems({ documentClient: client, tableName: tables.webhooks }, before.webhooks);
    const { error } = await eraseDyingAt(dying);
    if (error === undefined) break;
    deaths.push(dying);
    const items = byKey(await allItems(client, tables.messages));
    const dispatch = items.get(`DISPATCH#${open.dispatchId} / DISPATCH`);
    const parameters = [...items.values()].filter(({ pk }) => String(pk).startsWith(`PARAMS#${open.dispatchId}`));
    const isGone = itemsWith([secret], parameters).length === 0;
    expect([isGone, (dispatch?.['erased'] as Set<number> | undefined)?.has(24) ?? false]).not.toEqual([true, false]);
    expect((await erase(`--recipient ${number}`)).error).toBeUndefined();
    expect(await found([userId, oldId, secret, `"${number}"`, platformId])).toEqual([]);
    expect([...byKey(await allItems(client, tables.messages)).values()].filter(({ erasing }) => erasing)).toEqual([]);
  }
  expect(deaths.at(-1)).toBeGreaterThan(25);
});

describe('a message that a worker has', () => {
  test('is told, and found again by the note in its dispatch', async () => {
    const slices = sliceStore(tableOf(client, tables.messages, { nowMs: () => nowMs }));
    const { slice } = await slices.claim(claimOf(open, 2, { atMs: nowMs }));
    const { log, error } = await erase(`--recipient ${number}`);
    expect(log).toMatchObject({ underWay: 1, clean: true });
    expect(error).toMatchObject({ exitStatus: 1 });
    const outcome = { state: 'sent', platformMessageId: platformId } as const;
    const ended = await slices.end(slice, new Map(slice.outcomes.map((_, place) => [place, outcome])));
    expect(ended?.state).toBe('ended');
    expect(itemsWith([number], await allItems(client, tables.messages))).toContain(
      `DISPATCH#${open.dispatchId}#0 / SLICE#0002`,
    );
    expect(await erase(`--recipient ${number}`)).toMatchObject({
      error: undefined,
      log: { underWay: 0, changed: { outcomes: 1 } },
    });
    const again = await erase(`--recipient ${number}`);
    expect(again.log).toMatchObject({ messages: 0, dispatches: 0, clean: true });
  });
});

test('an unknown kind of item ends the command with status 1', async () => {
  await client.send(new PutCommand({ TableName: tables.messages, Item: { pk: 'NEW#1', sk: 'X', text: 'a' } }));
  const { error } = await erase(`--recipient ${number}`);
  expect(error).toMatchObject({ exitStatus: 1, message: 'Items of kinds that this command does not know: NEW' });
});

test.each(['--recipient 12', '--recipient x --client 0', '--client 1001', `--recipient ${number} --segments 65`])(
  'no usage: %s',
  async (line) => {
    const { error } = await erase(line);
    expect(error).toMatchObject({ exitStatus: 2 });
    expect(String(error)).not.toContain(number);
  },
);

test('what all of a dispatch share goes once all of it are erased', async () => {
  const head = headOf('LETTER', 11);
  const addresses = [number, ...many(10)];
  await accept(tables, head, recipientsOf(...addresses));
  await client.send(
    new UpdateCommand({
      TableName: tables.messages,
      Key: acceptedKey(head.dispatchId),
      UpdateExpression: 'SET #plan = :plan',
      ExpressionAttributeNames: { '#plan': 'plan' },
      ExpressionAttributeValues: {
        ':plan': JSON.stringify({
          ...makeDispatch([]).plan,
          header: { type: 'image_url', value: 'https://a.example/letter-77' },
        }),
      },
    }),
  );
  await erase(`--recipient ${number}`);
  expect(await found(['letter-77'])).toEqual([`DISPATCH#${head.dispatchId} / ACCEPTED`]);
  await erase(['--recipient', ...addresses.join(' --recipient ').split(' ')].join(' '));
  expect(await found(['letter-77'])).toEqual([]);
});

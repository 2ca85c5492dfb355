import { DeleteCommand, GetCommand, PutCommand } from '@aws-sdk/lib-dynamodb';
import { beforeEach, expect, test } from 'vitest';
import { WouldChange } from '../../../infra/operate/command.ts';
import { putBackCommand } from '../../../infra/operate/tables/put-back.ts';
import { operatorAuditInMemory, silent } from '../../support/operator-audit.ts';
import { createTable, freshTable, localDocumentClient } from '../../support/stores.ts';

const documentClient = localDocumentClient();
const audited = operatorAuditInMemory();
let table: string;
let copy: string;

beforeEach(async () => {
  audited.entries.length = 0;
  table = await freshTable('messages');
  copy = await createTable('messages', `${table}-restored`);
});

async function run(...typed: string[]) {
  const lines: string[] = [];
  const target = { documentClient, tableName: () => table };
  const open = () => ({ target, audit: audited.audit });
  const error = await putBackCommand(typed, open, {
    print: (line) => void lines.push(line),
    progress: silent,
  }).catch((reason: unknown) => reason);
  return { lines, error };
}

const put = (TableName: string, ...items: readonly Record<string, unknown>[]) =>
  Promise.all(items.map((Item) => documentClient.send(new PutCommand({ TableName, Item }))));
const read = async (pk: string, sk: string) =>
  (await documentClient.send(new GetCommand({ TableName: table, Key: { pk, sk }, ConsistentRead: true }))).Item;

const packed = new Uint8Array([0, 255, 10, 139]);
const dispatch = { pk: 'DISPATCH#1', sk: 'DISPATCH', head: { total: 10, none: null }, kinds: new Set(['a', 'b']) };
const parameters = { pk: 'PARAMS#1#0', sk: '00000', recipients: packed };
const pace = { pk: 'PACE#300', sk: 'PACE', nextMs: 1 };

test('counts what is gone by kind, and writes nothing without --yes', async () => {
  await put(copy, dispatch, parameters, { ...parameters, sk: '00500' }, pace);
  await put(table, { ...dispatch, head: 'newer' });
  const { lines, error } = await run('messages', '--from', copy);
  expect(error).toEqual(new WouldChange('nothing was written: repeat with --yes'));
  expect(lines).toEqual(['messages: 3 items of the copy are gone', 'stays  1 PACE', 'back   2 PARAMS']);
  const json = await run('messages', '--from', copy, '--json');
  const kinds = [
    { kind: 'PACE', items: 1, back: false },
    { kind: 'PARAMS', items: 2, back: true },
  ];
  expect(JSON.parse(json.lines.join('\n'))).toEqual({ table: 'messages', kinds, put_back: 0 });
  expect(json.error).toMatchObject({ exitStatus: 3 });
  expect((await run('messages', '--from', copy, '--only', 'DISPATCH')).error).toBeUndefined();
  expect(await read('PARAMS#1#0', '00000')).toBeUndefined();
  expect(audited.entries).toEqual([]);
});

test('puts back every attribute as it was, of any type, and nothing over what is there', async () => {
  const later = { pk: 'DISPATCH#2', sk: 'DISPATCH', head: 'since the copy' };
  await put(copy, dispatch, parameters, pace, { ...later, head: 'of the copy' });
  await put(table, later);
  const { lines } = await run('messages', '--from', copy, '--yes');
  expect(lines.at(-1)).toBe('2 put back');
  expect(await read('DISPATCH#1', 'DISPATCH')).toEqual(dispatch);
  expect((await read('PARAMS#1#0', '00000'))?.['recipients']).toEqual(packed);
  expect(await read('DISPATCH#2', 'DISPATCH')).toEqual(later);
  expect(await read('PACE#300', 'PACE')).toBeUndefined();
  const on = { table: 'messages', count: 2 };
  expect(audited.entries.map(({ what, on: about, outcome }) => [what, about, outcome])).toEqual([
    ['command.put_back', on, 'begun'],
    ['command.put_back', on, 'done'],
  ]);
  expect((await run('messages', '--from', copy, '--yes')).lines.at(-1)).toBe('nothing is to be put back');
});

test('an item that comes back by itself meanwhile is left as it is', async () => {
  await put(copy, dispatch, parameters);
  const own = { ...dispatch, head: 'written meanwhile' };
  // This write comes between the read of a page and its writes.
  const racing = localDocumentClient();
  racing.middlewareStack.add(
    (next) => async (args) => {
      if ('ConditionExpression' in args.input) await put(table, own);
      return next(args);
    },
    { step: 'initialize' },
  );
  const lines: string[] = [];
  const target = { documentClient: racing, tableName: () => table };
  await putBackCommand(
    ['messages', '--from', copy, '--only', 'DISPATCH', '--yes'],
    () => ({ target, audit: audited.audit }),
    { print: (line) => void lines.push(line), progress: silent },
  );
  expect(lines.at(-1)).toBe('0 put back; 1 were there again meanwhile');
  expect(await read('DISPATCH#1', 'DISPATCH')).toEqual(own);
});

test('goes through a copy of many pages', async () => {
  const many = Array.from({ length: 1_203 }, (_, at) => ({ pk: `SENT#${at % 7}`, sk: String(at) }));
  for (let at = 0; at < many.length; at += 100) await put(copy, ...many.slice(at, at + 100));
  await put(table, ...many.slice(0, 3));
  expect((await run('messages', '--from', copy, '--yes')).lines.at(-1)).toBe('1200 put back');
  for (const { pk, sk } of many.slice(-2))
    await documentClient.send(new DeleteCommand({ TableName: table, Key: { pk, sk } }));
  expect((await run('messages', '--from', copy, '--yes')).lines.at(-1)).toBe('2 put back');
});

test('refuses as a copy the table itself, another table, and one that is not there', async () => {
  const other = await freshTable('messages');
  await put(other, dispatch);
  for (const from of [table, other]) {
    const message = `--from takes a copy of this table, whose name begins with ${table}-, not ${from}`;
    expect((await run('messages', '--from', from, '--yes')).error).toMatchObject({ exitStatus: 2, message });
  }
  expect(await read(dispatch.pk, dispatch.sk)).toBeUndefined();
  const message = expect.stringContaining(`There is no table ${table}-none`);
  expect((await run('messages', '--from', `${table}-none`)).error).toMatchObject({ exitStatus: 1, message });
});

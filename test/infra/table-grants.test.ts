import { describe, expect, it } from 'vitest';
import { functions } from '../../infra/functions.ts';
import { tables } from '../../infra/tables.ts';
import { callsIn, tableCallsOf } from '../support/table-calls.ts';

const tableNames = Object.entries(tables).map(([name, { variable }]) => ({ name, variable }));

/** Returns a sentence for each right without a call, and for each call without a right. */
async function differences(functionName: string): Promise<string[]> {
  const calls = await tableCallsOf(functionName);
  const granted = new Map<string, ReadonlySet<string>>(
    Object.entries(functions[functionName]?.tables ?? {}).map(([table, verbs]) => [table, new Set(verbs)]),
  );
  return tableNames.flatMap(({ name, variable }) => {
    const called = calls.get(variable) ?? new Set<string>();
    const allowed = granted.get(name) ?? new Set<string>();
    return [
      ...[...called]
        .filter((verb) => !allowed.has(verb))
        .map((verb) => `${functionName} calls ${verb} on ${name} without the right to`),
      ...[...allowed]
        .filter((verb) => !called.has(verb))
        .map((verb) => `${functionName} may ${verb} on ${name} and never does`),
    ];
  });
}

it.each(Object.keys(functions))('%s is granted the verbs that its code calls, and no other (R46)', async (name) => {
  expect(await differences(name)).toEqual([]);
});

describe('the reading of calls', () => {
  const sdk =
    "import { DeleteCommand, GetCommand, paginateQuery, PutCommand, TransactWriteCommand } from '@aws-sdk/lib-dynamodb';";
  const store = `
    function get(client, table) { return client.send(new GetCommand({ TableName: table })); }
    function thingStore(client, table) {
      return {
        read: () => get(client, table),
        remove: async () => client.send(new DeleteCommand({ TableName: table })),
        list: async () => { for await (const page of paginateQuery({ client }, { TableName: table })) return page; },
      };
    }`;
  const verbs = (code: string) =>
    Object.fromEntries([...callsIn(`${sdk}${code}`)].map(([variable, found]) => [variable, [...found].toSorted()]));

  it('follows names from a store to its calls, and leaves out methods that are never named', () => {
    const use = (body: string) =>
      `${store} const things = thingStore({}, environmentVariable('THINGS_TABLE')); export const handler = () => ${body};`;
    expect(verbs(use('things.read()'))).toEqual({ THINGS_TABLE: ['GetItem'] });
    expect(verbs(use('[things.list(), things.remove()]'))).toEqual({ THINGS_TABLE: ['DeleteItem', 'Query'] });
    expect(verbs(use('0'))).toEqual({ THINGS_TABLE: [] });
  });

  it('knows a table by a constant and inside of options, each store with its own', () => {
    const code = `${store}
      function other({ client, table }) { return { add: () => client.send(new PutCommand({ TableName: table })) }; }
      const table = environmentVariable('A_TABLE');
      const { read } = thingStore({}, table);
      const options = other({ client: {}, table: environmentVariable('B_TABLE') });
      export const handler = () => [read(), options.add()];`;
    expect(verbs(code)).toEqual({ A_TABLE: ['GetItem'], B_TABLE: ['PutItem'] });
  });

  it('knows a table of an object that a function returns: whole, spread, or taken apart', () => {
    const code = `${store}
      function options() { return { client: {}, table: environmentVariable('A_TABLE') }; }
      function adding({ client, table }) { return { add: () => client.send(new PutCommand({ TableName: table })) }; }
      function all() {
        const { client, table } = options();
        return [thingStore(client, table), adding({ ...options(), pause: 1 })];
      }
      export const handler = () => all().map((one) => one.read() ?? one.add());`;
    expect(verbs(code)).toEqual({ A_TABLE: ['GetItem', 'PutItem'] });
    const lost = code.replace('[thingStore(', '[thingStore.call(this, ');
    expect(() => verbs(lost)).toThrow('A_TABLE');
  });

  it('knows a table that an operator names, and a constant of an object: spread, or by a member', () => {
    const code = `${store}
      function adding({ client, table }) { return { add: () => client.send(new PutCommand({ TableName: table })) }; }
      function open(target) {
        const things = { client: target.client, table: target.tableName('things') };
        const both = { things: things.table, others: target.tableName('others') };
        return [thingStore({}, both.others), thingStore({}, both.things), adding({ ...things, pause: 1 })];
      }
      export const handler = (target) => open(target).map((one) => one.read() ?? one.add());`;
    expect(verbs(code)).toEqual({ things: ['GetItem', 'PutItem'], others: ['GetItem'] });
    const lost = code.replace('return [thingStore({}, both.others), ', 'return [target.hold(both.others), ');
    expect(() => verbs(lost)).toThrow('others');
    expect(
      [...callsIn(`${sdk}${lost}`, { adding: ['others'] })].map(([name, some]) => [name, [...some].toSorted()]),
    ).toEqual([
      ['things', ['GetItem', 'PutItem']],
      ['others', ['PutItem']],
    ]);
  });

  it('leaves out a function inside of a store that no code names, and does not take a word of a package for its name', () => {
    const code = `import * as v from 'valibot';
      function a(client, table) {
        const put = () => client.send(new PutCommand({ TableName: table }));
        return { record: () => put(), find: () => client.send(new GetCommand({ TableName: table })) };
      }
      const s = a({}, environmentVariable('A_TABLE'));`;
    const use = (body: string) => verbs(`${code} export const handler = () => ${body};`);
    expect(use("v.record(s.find('code'))")).toEqual({ A_TABLE: ['GetItem'] });
    expect(use("s.record() ?? s.find('code')")).toEqual({ A_TABLE: ['GetItem', 'PutItem'] });
  });

  it('leaves out what the methods of a store share, once none of those is named that use it', () => {
    const code = `
      function a(client, table) {
        return { find, add: () => put(), show: () => table };
        async function find() { return client.send(new GetCommand({ TableName: table })); }
        function put() { return client.send(new PutCommand({ TableName: table })); }
      }
      const s = a({}, environmentVariable('A_TABLE'));`;
    expect(verbs(`${code} export const handler = () => s.show();`)).toEqual({ A_TABLE: [] });
    expect(verbs(`${code} export const handler = () => s.find('code');`)).toEqual({ A_TABLE: ['GetItem'] });
    expect(verbs(`${code} export const handler = () => s.add();`)).toEqual({ A_TABLE: ['PutItem'] });
  });

  it('takes the actions of a transaction for verbs: its own, or those made elsewhere', () => {
    const write =
      'const write = (client, actions) => client.send(new TransactWriteCommand({ TransactItems: actions }));';
    const own = `${write} function a(client, table) { return { save: () => write(client, [{ Update: {} }]) }; }`;
    const handed = `${write} function a(client, table) { return { save: (actions) => write(client, actions) }; }`;
    const use =
      "const s = a({}, environmentVariable('A_TABLE')); export const handler = () => s.save([{ Delete: {} }]);";
    expect(verbs(own + use)).toEqual({ A_TABLE: ['UpdateItem'] });
    expect(verbs(handed + use)).toEqual({ A_TABLE: ['DeleteItem'] });
  });

  it('does not take the search of an array for a method of a store', () => {
    const code = `function a(client, table) { return { find: () => client.send(new GetCommand({ TableName: table })) }; }
      const s = a({}, environmentVariable('A_TABLE'));`;
    expect(verbs(`${code} export const handler = () => [s].find((one) => one !== s);`)).toEqual({ A_TABLE: [] });
    expect(verbs(`${code} export const handler = () => s.find('code');`)).toEqual({ A_TABLE: ['GetItem'] });
  });

  it('stops at a call it does not know, and at a table whose way it cannot follow', () => {
    expect(() => callsIn("import { ExecuteStatementCommand } from '@aws-sdk/lib-dynamodb';")).toThrow(
      'ExecuteStatement',
    );
    expect(() =>
      callsIn("const held = { t: environmentVariable('A_TABLE') }; export const handler = () => held;"),
    ).toThrow('A_TABLE');
  });
});

import { childrenOf, codeOf, type Node, nameOf, syntaxOf, within } from './function-code.ts';
import { isCall, namesIn, neverNamed, partsOf } from './living-code.ts';
import { type Declarations, tablesGiven } from './table-ways.ts';

/** Verbs of each table, by the variable under which the function finds it. */
export type TableCalls = ReadonlyMap<string, ReadonlySet<string>>;

/** What the calls of the SDK's document library ask of DynamoDB. */
const verbOfCall: Readonly<Record<string, string>> = {
  GetCommand: 'GetItem',
  BatchGetCommand: 'BatchGetItem',
  QueryCommand: 'Query',
  paginateQuery: 'Query',
  PutCommand: 'PutItem',
  UpdateCommand: 'UpdateItem',
  DeleteCommand: 'DeleteItem',
  BatchWriteCommand: 'BatchWriteItem',
  ScanCommand: 'Scan',
  paginateScan: 'Scan',
};

/** Actions of a transaction need the verb of the action, and no verb of their own. */
const verbOfAction: Readonly<Record<string, string>> = {
  Put: 'PutItem',
  Update: 'UpdateItem',
  Delete: 'DeleteItem',
  ConditionCheck: 'ConditionCheckItem',
  Get: 'GetItem',
};

const transaction = 'TransactWriteCommand';
const documentLibrary = '@aws-sdk/lib-dynamodb';

/**
 * The calls of DynamoDB that a function's code can make, and the table each goes to, read from its bundle without running it.
 * A store is a function that is given a table's name at the top of the bundle. Its calls are those of all code that can be
 * reached from it by name, but for what is in it and is never named: methods of the objects it returns, and functions. `row.find`
 * keeps every method `find` alive. So it may find a verb too many, and misses none.
 */
export async function tableCallsOf(functionName: string): Promise<TableCalls> {
  return callsIn(await codeOf(functionName));
}

/**
 * The same, of a bundle's text: one module, in which every name of the top level is declared once. `toldLater` are stores that are
 * told a table at each call, in a way that cannot be followed, with the tables that it may be.
 */
export function callsIn(code: string, toldLater: Readonly<Record<string, readonly string[]>> = {}): TableCalls {
  const bundle = readBundle(code);
  const stores = tablesGiven(bundle.program, bundle.declarations, new Set(Object.values(toldLater).flat()));
  for (const [store, tables] of Object.entries(toldLater)) {
    if (bundle.declarations.has(store)) stores.set(store, new Set([...(stores.get(store) ?? []), ...tables]));
  }
  const reached = new Set([...stores.keys()].flatMap((store) => [...reachedFrom(store, bundle, new Set())]));
  const dead = neverNamed(bundle.program, new Set([...reached].flatMap(partsOf)));
  const calls = new Map<string, Set<string>>();
  for (const [store, variables] of stores) {
    const verbs = verbsOf(store, bundle, dead);
    for (const variable of variables) calls.set(variable, new Set([...(calls.get(variable) ?? []), ...verbs]));
  }
  return calls;
}

interface Bundle {
  readonly program: Node;
  readonly declarations: Declarations;
  /** Names of the document library, by the name that they have in the bundle. */
  readonly imported: ReadonlyMap<string, string>;
}

function readBundle(code: string): Bundle {
  const program = syntaxOf(code);
  const declarations = new Map<string, Node>();
  const imported = new Map<string, string>();
  for (const statement of childrenOf(program)) {
    if (statement.type === 'ImportDeclaration') readImport(statement, imported);
    if (statement.type === 'FunctionDeclaration' || statement.type === 'ClassDeclaration') {
      declarations.set(nameOf(statement['id']), statement);
    }
    if (statement.type !== 'VariableDeclaration') continue;
    for (const declarator of childrenOf(statement)) {
      const pattern = declarator['id'] as Node;
      for (const node of within(pattern)) if (node.type === 'Identifier') declarations.set(nameOf(node), declarator);
    }
  }
  return { program, declarations, imported };
}

function readImport(statement: Node, imported: Map<string, string>): void {
  const source = (statement['source'] as Node)['value'];
  if (source !== documentLibrary && source !== '@aws-sdk/client-dynamodb') return;
  for (const specifier of statement['specifiers'] as Node[]) {
    const name = nameOf(specifier['imported']);
    if (!isCall(name)) continue;
    if (source !== documentLibrary || !(name in verbOfCall || name === transaction)) {
      throw new Error(`${name} of ${String(source)} is no call that this reading knows`);
    }
    imported.set(nameOf(specifier['local']), name);
  }
}

/** Everything of the top level that the code of a name can reach by names, itself included. */
function reachedFrom(name: string, { declarations }: Bundle, dead: ReadonlySet<Node>): Set<Node> {
  const reached = new Set<Node>();
  const waiting = [name];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const declaration = declarations.get(next);
    if (declaration === undefined || reached.has(declaration)) continue;
    reached.add(declaration);
    for (const node of within(declaration, dead)) if (node.type === 'Identifier') waiting.push(nameOf(node));
  }
  return reached;
}

function verbsOf(store: string, bundle: Bundle, dead: ReadonlySet<Node>): Set<string> {
  const reached = [...reachedFrom(store, bundle, dead)];
  const calls = namesIn(reached, dead, 'Identifier').flatMap((name) => bundle.imported.get(name) ?? []);
  const verbs = new Set(calls.flatMap((call) => verbOfCall[call] ?? []));
  if (!calls.includes(transaction)) return verbs;
  const own = actionsIn(reached, dead);
  // Actions that are made elsewhere and handed to the store could be any.
  return new Set([...verbs, ...(own.size > 0 ? own : actionsIn([bundle.program], dead))]);
}

function actionsIn(nodes: readonly Node[], dead: ReadonlySet<Node>): Set<string> {
  return new Set(namesIn(nodes, dead, 'Property').flatMap((name) => verbOfAction[name] ?? []));
}

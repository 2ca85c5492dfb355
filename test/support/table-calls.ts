import { childrenOf, codeOf, type Node, nameOf, syntaxOf, within } from './function-code.ts';
import { isCall, namesIn, neverNamed, partsOf } from './living-code.ts';
import { type Declarations, tablesGiven } from './table-ways.ts';

/** Each table has verbs, by its environment variable. */
export type TableCalls = ReadonlyMap<string, ReadonlySet<string>>;

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

/** A transaction needs the verbs of its actions, and no verb of its own. */
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
 * Reads the DynamoDB calls of a function and their tables from its bundle. A store takes a table's name at top level;
 * all code that it reaches by name counts. This may find extra verbs, but misses none.
 */
export async function tableCallsOf(functionName: string): Promise<TableCalls> {
  return callsIn(await codeOf(functionName));
}

/**
 * Reads the calls of a bundle: one module, in which each top-level name is declared once. `toldLater` has stores that
 * receive a table at each call in a way that cannot be followed, with their tables.
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

/** Returns all top-level code reachable by names from the code of a name, with the name itself. */
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
  // The store may receive any action that is built elsewhere.
  return new Set([...verbs, ...(own.size > 0 ? own : actionsIn([bundle.program], dead))]);
}

function actionsIn(nodes: readonly Node[], dead: ReadonlySet<Node>): Set<string> {
  return new Set(namesIn(nodes, dead, 'Property').flatMap((name) => verbOfAction[name] ?? []));
}

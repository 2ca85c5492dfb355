import { childrenOf, codeOf, isFunction, type Node, nameOf, syntaxOf, within } from './function-code.ts';
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

/** The same, of a bundle's text: one module, in which every name of the top level is declared once. */
export function callsIn(code: string): TableCalls {
  const bundle = readBundle(code);
  const stores = tablesGiven(bundle.program, bundle.declarations);
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
    const isCall = name.endsWith('Command') || name.startsWith('paginate');
    if (!isCall) continue;
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

/** Names of identifiers, or keys of properties. */
function namesIn(nodes: readonly Node[], dead: ReadonlySet<Node>, type: 'Identifier' | 'Property'): string[] {
  return nodes.flatMap((root) =>
    [...within(root, dead)]
      .filter((node) => node.type === type)
      .map((node) => nameOf(type === 'Identifier' ? node : node['key'])),
  );
}

/** What of the code may be dead though the code is reached: functions inside of it, and parts of objects that it returns. */
function partsOf(declaration: Node): Node[] {
  return [...within(declaration)].flatMap((node) => {
    if (node.type === 'FunctionDeclaration' && node !== declaration) return [node];
    const returned = (node.type === 'ReturnStatement' ? node['argument'] : node['body']) as Node | null | undefined;
    if (returned?.type !== 'ObjectExpression') return [];
    return childrenOf(returned).filter(
      ({ type, computed, value }) =>
        type === 'Property' &&
        computed === false &&
        (isFunction(value as Node) || (value as Node).type === 'Identifier'),
    );
  });
}

/** Those of them whose name no living code names. */
function neverNamed(program: Node, parts: ReadonlySet<Node>): ReadonlySet<Node> {
  let dead = parts;
  for (;;) {
    const { properties, variables } = namesOf(program, dead);
    const still = new Set(
      [...dead].filter((part) =>
        part.type === 'Property' ? !properties.has(nameOf(part['key'])) : !variables.has(nameOf(part['id'])),
      ),
    );
    if (still.size === dead.size) return dead;
    dead = still;
  }
}

/** `a.name`, `a['name']` and `const { name } = a` name a property. `a.find((b) => ...)` does not: that is an array's. */
function namesOf(program: Node, dead: ReadonlySet<Node>) {
  const properties = new Set<string>();
  const variables = new Set<string>();
  const ofArrays = new Set<unknown>();
  for (const node of within(program, dead)) {
    if (node.type === 'CallExpression' && isFunction((node['arguments'] as Node[])[0])) ofArrays.add(node['callee']);
    if (node.type === 'MemberExpression') {
      const name = nameOf(node['property']);
      if (!(ofArrays.has(node) && name in Array.prototype)) properties.add(name);
    }
    if (node.type === 'Identifier') variables.add(nameOf(node));
    if (node.type !== 'ObjectPattern') continue;
    for (const property of childrenOf(node)) if (property.type === 'Property') properties.add(nameOf(property['key']));
  }
  return { properties, variables };
}

import { childrenOf, codeOf, isFunction, type Node, nameOf, syntaxOf, within } from './function-code.ts';
import { type Declarations, tablesGiven } from './table-ways.ts';

/** The verbs for each table, by its environment variable. */
export type TableCalls = ReadonlyMap<string, ReadonlySet<string>>;

/** The DynamoDB verb of each call of the SDK's document library. */
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
 * The DynamoDB calls of a function and their tables, read from its bundle. A store takes a table's name at top level;
 * all code that it reaches by name counts. This may find extra verbs, but misses none.
 */
export async function tableCallsOf(functionName: string): Promise<TableCalls> {
  return callsIn(await codeOf(functionName));
}

/** The same for the text of a bundle: one module, in which each top-level name is declared once. */
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
  /** Names of the document library by their names in the bundle. */
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

/** All top-level code reachable by names from the code of a name, with the name itself. */
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

/** Names of identifiers, or keys of properties. */
function namesIn(nodes: readonly Node[], dead: ReadonlySet<Node>, type: 'Identifier' | 'Property'): string[] {
  return nodes.flatMap((root) =>
    [...within(root, dead)]
      .filter((node) => node.type === type)
      .map((node) => nameOf(type === 'Identifier' ? node : node['key'])),
  );
}

/** Parts of reachable code that may be dead: inner functions, and properties of returned objects. */
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

/** The parts whose name no live code uses. */
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

/**
 * `a.name`, `a['name']` and `const { name } = a` use a property. `a.find((b) => ...)` does not, because that is a
 * method of arrays.
 */
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

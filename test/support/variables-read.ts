import { childrenOf, codeOf, isFunction, type Node, nameOf, syntaxOf, within } from './function-code.ts';

/**
 * Finds the environment variables that a function's code reads, in its bundle; packages do not count. A reader
 * (`environmentVariable`) reads the variable that it is given, or calls another reader. Callers must pass the name as
 * text.
 */
export async function variablesReadBy(functionName: string): Promise<ReadonlySet<string>> {
  return variablesIn(await codeOf(functionName));
}

/** Finds them in the text of a bundle: one module, in which each top-level name is declared once. */
export function variablesIn(code: string): ReadonlySet<string> {
  const units = childrenOf(syntaxOf(code)).flatMap(unitsIn);
  const readers = new Map<string, number>();
  const read = new Set<string>();
  for (let known = -1; known < readers.size; ) {
    known = readers.size;
    for (const unit of units) readUnit(unit, readers, read);
  }
  return read;
}

/** A function is a top-level statement with `name` and `parameters`. */
interface Unit {
  readonly node: Node;
  readonly name?: string;
  readonly parameters: readonly string[];
}

function unitsIn(statement: Node): Unit[] {
  if (statement.type === 'VariableDeclaration') {
    return childrenOf(statement).map((declarator) => {
      const value = declarator['init'] as Node | null;
      return value !== null && isFunction(value)
        ? { node: value, name: nameOf(declarator['id']), parameters: parametersOf(value) }
        : { node: declarator, parameters: [] };
    });
  }
  if (statement.type !== 'FunctionDeclaration') return [{ node: statement, parameters: [] }];
  return [{ node: statement, name: nameOf(statement['id']), parameters: parametersOf(statement) }];
}

function parametersOf(node: Node): string[] {
  return (node['params'] as Node[]).map((each) => (each.type === 'Identifier' ? nameOf(each) : ''));
}

/** Adds the names in the node to `read`, and the function itself to `readers` when it receives the name. */
function readUnit({ node, name, parameters }: Unit, readers: Map<string, number>, read: Set<string>): void {
  const followed = new Set<unknown>([node['id']]);
  for (const each of within(node)) {
    const asked = nameAskedFor(each, readers, followed);
    if (asked === undefined) continue;
    const place = asked.type === 'Identifier' ? parameters.indexOf(nameOf(asked)) : -1;
    if (asked.type === 'Literal') read.add(String(asked['value']));
    else if (name !== undefined && place >= 0) readers.set(name, place);
    else throw new Error(`a variable is read here whose name is no text: ${name ?? 'top level'}`);
  }
  for (const each of within(node)) {
    const lost = isEnvironment(each) || (each.type === 'Identifier' && readers.has(nameOf(each)));
    if (lost && !followed.has(each)) throw new Error(`what becomes of ${nameOf(each)} cannot be followed`);
  }
}

/**
 * Returns the name expression in `process.env[NAME]`, `process.env.NAME` and `reader(NAME)`; `followed` collects the
 * nodes that were understood.
 */
function nameAskedFor(node: Node, readers: ReadonlyMap<string, number>, followed: Set<unknown>): Node | undefined {
  if (node.type === 'MemberExpression' && isEnvironment(node['object'] as Node)) {
    followed.add(node['object']);
    const property = node['property'] as Node;
    return node['computed'] === true ? property : { type: 'Literal', value: nameOf(property) };
  }
  const callee = node['callee'] as Node | undefined;
  if (node.type !== 'CallExpression' || callee?.type !== 'Identifier') return undefined;
  const place = readers.get(nameOf(callee));
  if (place === undefined) return undefined;
  followed.add(callee);
  return (node['arguments'] as Node[])[place] ?? { type: 'nothing' };
}

function isEnvironment(node: Node): boolean {
  const object = node['object'] as Node | undefined;
  return node.type === 'MemberExpression' && nameOf(node['property']) === 'env' && nameOf(object) === 'process';
}

import { childrenOf, isFunction, type Node, nameOf, within } from './function-code.ts';

export type Declarations = ReadonlyMap<string, Node>;

/**
 * Returns the functions that receive a table's name, with the tables' variables. The name may pass directly, as a
 * constant, in an object, or from a function that returns one. Throws for another way, except of a table in
 * `strayable`.
 */
export function tablesGiven(
  program: Node,
  declarations: Declarations,
  strayable: ReadonlySet<string> = new Set(),
): Map<string, Set<string>> {
  const given = new Map<string, Set<string>>();
  const strays = new Set<string>();
  const ways = new TableWays(declarations);
  const statements = childrenOf(program).map((top) => ({ top, nodes: [...within(top)] }));
  for (const { top, nodes } of statements) {
    for (const node of nodes) {
      if (node.type !== 'CallExpression' || (node['callee'] as Node).type !== 'Identifier') continue;
      const name = nameOf(node['callee']);
      for (const table of (node['arguments'] as Node[]).flatMap((argument) => ways.follow(argument, top))) {
        given.set(name, (given.get(name) ?? new Set()).add(table));
      }
    }
  }
  for (const { top, nodes } of statements) {
    for (const node of nodes)
      for (const table of ways.strayTablesOf(node, top)) if (!strayable.has(table)) strays.add(table);
  }
  if (strays.size > 0) throw new Error(`${[...strays].join(', ')} goes a way that this reading cannot follow`);
  return given;
}

/** A value of an object has its top-level statement; `calls` have returned the object. */
interface Value {
  readonly name: string;
  readonly value: Node;
  readonly top: Node;
  readonly calls: readonly Node[];
}

/** Follows a table's name from its use back to its environment variable. */
class TableWays {
  readonly #declarations: Declarations;
  readonly #locals = new Map<Node, ReturnType<typeof localsOf>>();
  readonly #followed = new Set<Node>();

  constructor(declarations: Declarations) {
    this.#declarations = declarations;
  }

  /** Returns the tables that an expression is or contains. `top` is the top-level statement around it. */
  follow(node: Node, top: Node): string[] {
    const tables = this.#tablesOf(node, top);
    if (tables.length > 0) this.#followed.add(node);
    return tables;
  }

  /** Returns the tables in an expression that no step has followed. */
  strayTablesOf(node: Node, top: Node): string[] {
    if (this.#followed.has(node) || node.type === 'ObjectExpression' || this.#localsOf(top).bindings.has(node))
      return [];
    return this.#tablesOf(node, top);
  }

  #tablesOf(node: Node, top: Node): string[] {
    const own = tableVariable(node);
    if (own !== undefined) return [own];
    if (node.type === 'Identifier') return this.#tablesNamed(nameOf(node), top);
    // A table as stores take it (lib/aws/table.ts).
    if (node.type === 'CallExpression' && nameOf(node['callee']) === 'tableOf') {
      return (node['arguments'] as Node[]).flatMap((argument) => this.follow(argument, top));
    }
    if (node.type !== 'MemberExpression') return this.#tablesAmong(this.#valuesOf(node, top));
    const values = this.#valuesOf(node['object'] as Node, top);
    return this.#tablesAmong(values.filter((value) => value.name === nameOf(node['property'])));
  }

  #tablesNamed(name: string, top: Node): string[] {
    return this.#declaratorsOf(name, top).flatMap((declarator) => {
      const init = declarator['init'] as Node | null;
      const id = declarator['id'] as Node;
      if (init === null) return [];
      if (id.type === 'Identifier') return this.follow(init, top);
      const key = childrenOf(id).find(({ value }) => (value as Node | undefined)?.['name'] === name)?.['key'];
      if (key === undefined) return [];
      return this.#tablesAmong(this.#valuesOf(init, top).filter((value) => value.name === nameOf(key)));
    });
  }

  #tablesAmong(values: readonly Value[]): string[] {
    return values.flatMap(({ value, top, calls }) => {
      const tables = this.follow(value, top);
      if (tables.length > 0) for (const call of calls) this.#followed.add(call);
      return tables;
    });
  }

  /**
   * Returns the values of an object, from its literal, a constant, or the function without arguments that returns it.
   */
  #valuesOf(node: Node, top: Node): Value[] {
    if (node.type === 'Identifier') {
      this.#followed.add(node);
      const inits = this.#declaratorsOf(nameOf(node), top).map((declarator) => declarator['init'] as Node | null);
      return inits.flatMap((init) => (init?.type === 'ObjectExpression' ? this.#valuesOf(init, top) : []));
    }
    if (node.type === 'ObjectExpression') {
      return childrenOf(node).flatMap((part) =>
        part.type === 'Property'
          ? [{ name: nameOf(part['key']), value: part['value'] as Node, top, calls: [] }]
          : this.#valuesOf(part['argument'] as Node, top),
      );
    }
    if (node.type !== 'CallExpression' || (node['arguments'] as Node[]).length > 0) return [];
    const callee = node['callee'] as Node;
    const called = callee.type === 'Identifier' ? this.#declarations.get(nameOf(callee)) : undefined;
    const last = called?.type === 'FunctionDeclaration' ? childrenOf(called['body'] as Node).at(-1) : undefined;
    const returned = last?.type === 'ReturnStatement' ? (last['argument'] as Node | null) : null;
    if (called === undefined || returned?.type !== 'ObjectExpression') return [];
    return this.#valuesOf(returned, called).map((value) => ({ ...value, calls: [...value.calls, node] }));
  }

  /** Returns the declarations of a name in this statement or at top level; none for a parameter. */
  #declaratorsOf(name: string, top: Node): readonly Node[] {
    const { declarators, parameters } = this.#localsOf(top);
    const own = declarators.get(name) ?? [];
    const outer = this.#declarations.get(name);
    return own.length > 0 || parameters.has(name) || outer?.type !== 'VariableDeclarator' ? own : [outer];
  }

  #localsOf(top: Node): ReturnType<typeof localsOf> {
    const locals = this.#locals.get(top) ?? localsOf(top);
    this.#locals.set(top, locals);
    return locals;
  }
}

/** Returns the declarations of a statement by name, their nodes, and its parameter names. */
function localsOf(top: Node) {
  const declarators = new Map<string, Node[]>();
  const bindings = new Set<Node>();
  const parameters = new Set<string>();
  for (const node of within(top)) {
    if (isFunction(node) || node.type === 'FunctionDeclaration') {
      for (const binding of (node['params'] as Node[]).flatMap((each) => [...within(each)])) {
        if (binding.type === 'Identifier') parameters.add(nameOf(binding));
      }
    }
    if (node.type !== 'VariableDeclarator') continue;
    for (const binding of within(node['id'] as Node)) {
      bindings.add(binding);
      if (binding.type !== 'Identifier') continue;
      declarators.set(nameOf(binding), [...(declarators.get(nameOf(binding)) ?? []), node]);
    }
  }
  return { declarators, bindings, parameters };
}

/** Returns X_TABLE for `environmentVariable('X_TABLE')`, and x for `tableName('x')` of an operator's command. */
function tableVariable(node: Node): string | undefined {
  if (node.type !== 'CallExpression') return undefined;
  const [first] = node['arguments'] as Node[];
  const value = first?.type === 'Literal' ? first['value'] : undefined;
  if (typeof value !== 'string') return undefined;
  return value.endsWith('_TABLE') || calledName(node) === 'tableName' ? value : undefined;
}

/** Returns the name of `name()` and of `a.name()`. */
function calledName(call: Node): string {
  const callee = call['callee'] as Node;
  return nameOf(callee.type === 'MemberExpression' ? callee['property'] : callee);
}

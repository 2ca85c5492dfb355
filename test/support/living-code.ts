import { childrenOf, isFunction, type Node, nameOf, within } from './function-code.ts';

/* Some parts of a module's reachable code are never named, and so never run. */

/** Returns the names of identifiers, or keys of properties. */
export function namesIn(nodes: readonly Node[], dead: ReadonlySet<Node>, type: 'Identifier' | 'Property'): string[] {
  return nodes.flatMap((root) =>
    [...within(root, dead)]
      .filter((node) => node.type === type)
      .map((node) => nameOf(type === 'Identifier' ? node : node['key'])),
  );
}

/** Returns what may be dead in code that is reached: functions inside of it, and parts of objects that it returns. */
export function partsOf(declaration: Node): Node[] {
  return [...within(declaration)].flatMap((node) => {
    if (node !== declaration && (node.type === 'FunctionDeclaration' || isNamedFunction(node))) return [node];
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

/** Recognizes `const name = () => ...`. */
function isNamedFunction({ type, id, init }: Node): boolean {
  return type === 'VariableDeclarator' && (id as Node).type === 'Identifier' && isFunction((init ?? undefined) as Node);
}

/** Returns those of the parts whose name no living code names. */
export function neverNamed(program: Node, parts: ReadonlySet<Node>): ReadonlySet<Node> {
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
 * Finds the names of properties in `a.name`, `a['name']` and `const { name } = a`. `a.find((b) => ...)` names none:
 * that is an array's; neither does `v.record`, where all of a package is imported as `v`.
 */
function namesOf(program: Node, dead: ReadonlySet<Node>) {
  const properties = new Set<string>();
  const variables = new Set<string>();
  const ofArrays = new Set<unknown>();
  const packages = new Set(namespacesOf(program));
  for (const node of within(program, dead)) {
    if (node.type === 'CallExpression' && isFunction((node['arguments'] as Node[])[0])) ofArrays.add(node['callee']);
    if (node.type === 'MemberExpression') {
      const name = nameOf(node['property']);
      if (packages.has(nameOf(node['object']))) continue;
      if (!(ofArrays.has(node) && name in Array.prototype)) properties.add(name);
    }
    if (node.type === 'Identifier') variables.add(nameOf(node));
    if (node.type !== 'ObjectPattern') continue;
    for (const property of childrenOf(node)) if (property.type === 'Property') properties.add(nameOf(property['key']));
  }
  return { properties, variables };
}

/** Returns the names of `import * as name from 'package'`. */
function namespacesOf(program: Node): string[] {
  return childrenOf(program)
    .filter(({ type }) => type === 'ImportDeclaration')
    .flatMap((statement) => statement['specifiers'] as Node[])
    .filter(({ type }) => type === 'ImportNamespaceSpecifier')
    .map(({ local }) => nameOf(local));
}

/** Tells whether an import of the SDK is one of its calls. */
export function isCall(name: string): boolean {
  return name.endsWith('Command') || name.startsWith('paginate');
}

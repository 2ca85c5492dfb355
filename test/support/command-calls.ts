import { bundled, childrenOf, type Node, nameOf, syntaxOf, within } from './function-code.ts';
import { isCall, namesIn, neverNamed, partsOf } from './living-code.ts';
import { callsIn, type TableCalls } from './table-calls.ts';

export interface CommandCalls {
  readonly tables: TableCalls;
  /** The command names these secrets by the variables of functions. */
  readonly secrets: ReadonlySet<string>;
  /** The actions may be on any secret. */
  readonly ofSecrets: ReadonlySet<string>;
  /** The command opens these queues and dead-letter queues by name, or `*` for any that its user names. */
  readonly queues: ReadonlySet<string>;
  readonly deadLetters: ReadonlySet<string>;
  /** The clients of other services give these calls their names: `GetQueueUrlCommand`. */
  readonly services: ReadonlySet<string>;
}

/** A function gives each caller its table, so the calls of this file are recorded, not read. */
const recorded = '*/provisioning-store.ts';

/** The writer of erasing receives its table at each call. */
const toldLater = { rewriter: ['messages', 'webhooks'] };

/** The methods of a target's secrets (secret-store.ts) ask for these actions. */
const actionsOfSecrets: Readonly<Record<string, readonly string[]>> = {
  read: ['GetSecretValue'],
  write: ['PutSecretValue'],
  writeOwn: ['PutSecretValue', 'CreateSecret'],
};

/**
 * Returns the calls of each command, by the name of its file in infra/operate; without the calls of the store of
 * provisioning.
 */
export async function commandCalls(files: readonly string[]): Promise<ReadonlyMap<string, CommandCalls>> {
  const codes = await bundled(
    files.map((file) => `infra/operate/${file}`),
    [recorded],
  );
  return new Map([...codes].map(([name, code]) => [name, callsOf(code)]));
}

/** Returns the calls in a bundle's text. */
export function callsOf(code: string): CommandCalls {
  const program = syntaxOf(code);
  const statements = childrenOf(program).filter(({ type }) => type !== 'ImportDeclaration');
  const dead = neverNamed(program, new Set(childrenOf(program).flatMap(partsOf)));
  const living = statements.flatMap((statement) => [...within(statement, dead)]);
  const imported = importedCalls(program);
  return {
    tables: callsIn(code, toldLater),
    secrets: new Set(living.flatMap(secretVariable)),
    ofSecrets: new Set(living.flatMap(methodsOfSecrets).flatMap((method) => actionsOfSecrets[method] ?? [])),
    queues: new Set(living.flatMap(openedBy('openQueue'))),
    deadLetters: new Set(living.flatMap(openedBy('openDeadLetters'))),
    services: new Set(namesIn(statements, dead, 'Identifier').flatMap((name) => imported.get(name) ?? [])),
  };
}

/** Finds the clients of services that have no reading of their own, by the name in the bundle. */
function importedCalls(program: Node): ReadonlyMap<string, string> {
  const imported = new Map<string, string>();
  for (const statement of childrenOf(program)) {
    if (statement.type !== 'ImportDeclaration') continue;
    const [, service] = /^@aws-sdk\/client-(.+)$/.exec(nameOf(statement['source'])) ?? [];
    if (service === undefined || service === 'dynamodb' || service === 'secrets-manager') continue;
    for (const specifier of statement['specifiers'] as Node[]) {
      const name = nameOf(specifier['imported']);
      if (isCall(name)) imported.set(nameOf(specifier['local']), name);
    }
  }
  return imported;
}

function secretVariable({ type, value }: Node): string[] {
  return type === 'Literal' && typeof value === 'string' && value.endsWith('_SECRET') ? [value] : [];
}

/** Finds `target.secrets.read`, and both of `secrets[a ? 'write' : 'writeOwn']`. */
function methodsOfSecrets({ type, object, property, computed }: Node): string[] {
  if (type !== 'MemberExpression') return [];
  const owner = object as Node;
  if (nameOf(owner.type === 'MemberExpression' ? owner['property'] : owner) !== 'secrets') return [];
  const named = property as Node;
  if (computed !== true) return [nameOf(named)];
  return [...within(named)].flatMap(({ type: kind, value }) => (kind === 'Literal' ? [String(value)] : []));
}

/** Finds the queue of `open(stage, 'events')`; `*` where its name is no text. */
function openedBy(opener: string): (node: Node) => string[] {
  return ({ type, callee, arguments: given }) => {
    if (type !== 'CallExpression' || nameOf(callee) !== opener) return [];
    const queue = (given as Node[])[1];
    return [queue?.type === 'Literal' ? String(queue['value']) : '*'];
  };
}

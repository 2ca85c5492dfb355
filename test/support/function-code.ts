import { globSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { build } from 'esbuild';
import { parseAst } from 'vitest/node';

const root = resolve(import.meta.dirname, '../..');

export interface Node {
  readonly type: string;
  readonly [property: string]: unknown;
}

let codes: Promise<ReadonlyMap<string, string>> | undefined;

/** Returns the code of one function as one readable module: packages stay imports, and unreachable code is removed. */
export async function codeOf(functionName: string): Promise<string> {
  codes ??= bundleAll();
  return (await codes).get(functionName) ?? '';
}

/** Bundles all functions at once: they share most of their sources, which are read once. */
async function bundleAll(): Promise<ReadonlyMap<string, string>> {
  return await bundled(globSync('functions/*.ts', { cwd: root }));
}

/**
 * Bundles each entry point into a readable module, by the name of its file; `external` stay imports, as packages do.
 */
export async function bundled(
  files: readonly string[],
  external: readonly string[] = [],
): Promise<ReadonlyMap<string, string>> {
  const { outputFiles } = await build({
    entryPoints: files.map((file) => join(root, file)),
    outdir: root,
    bundle: true,
    write: false,
    format: 'esm',
    platform: 'node',
    target: 'node24',
    packages: 'external',
    external: [...external],
    logLevel: 'warning',
  });
  return new Map(outputFiles.map(({ path, text }) => [basename(path, '.js'), text]));
}

export function syntaxOf(code: string): Node {
  return parseAst(code) as unknown as Node;
}

/** Yields the node and its descendants, without the given parts and without names that are only property keys. */
export function* within(node: Node, without: ReadonlySet<Node> = new Set()): Generator<Node> {
  if (without.has(node)) return;
  yield node;
  for (const child of childrenOf(node)) {
    const isName = child === node['property'] || (child === node['key'] && child !== node['value']);
    if (!isName || node['computed'] === true) yield* within(child, without);
  }
}

export function childrenOf(node: Node): Node[] {
  return Object.values(node)
    .flat()
    .filter((value): value is Node => typeof value === 'object' && value !== null && 'type' in value);
}

/** Returns the name of an identifier, or of a text key. */
export function nameOf(node: unknown): string {
  const { name, value } = node as { readonly name?: unknown; readonly value?: unknown };
  return String(name ?? value);
}

export function isFunction(node: Node | undefined): boolean {
  return node?.type === 'ArrowFunctionExpression' || node?.type === 'FunctionExpression';
}

import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { report } from './figure.ts';

const dist = new URL('../../dist/', import.meta.url).pathname;

function builtFrom() {
  return JSON.parse(readFileSync(join(dist, 'meta', 'functions.json'), 'utf8')) as {
    inputs: Record<string, { imports: { path: string }[] }>;
    outputs: Record<string, { inputs: Record<string, { bytesInOutput: number }> }>;
  };
}

/** Returns the project's files that a function reaches by its imports; imports of types do not count. */
function reachOf(name: string): Set<string> {
  const { inputs } = builtFrom();
  const reached = new Set([`functions/${name}.ts`]);
  for (const path of reached) {
    for (const imported of inputs[path]?.imports ?? [])
      if (imported.path.startsWith('lib/')) reached.add(imported.path);
  }
  return reached;
}

export function packagesOf(name: string): Set<string> {
  const meta = builtFrom();
  const output = Object.entries(meta.outputs).find(([file]) => file.endsWith(`functions/${name}/index.mjs`));
  if (output === undefined) throw new Error(`the build has no function ${name}`);
  return new Set(
    Object.entries(output[1].inputs)
      .filter(([, input]) => input.bytesInOutput > 0)
      .flatMap(([path]) => /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1] ?? []),
  );
}

export function bundleOf(name: string): string {
  const file = join(dist, 'functions', name, 'index.mjs');
  if (!existsSync(file)) throw new Error(`${file} is missing: run npm run build first`);
  return file;
}

/**
 * Counts the project's files that each function reaches. Every bundle is small, and functions on the way of every
 * request carry no database client.
 */
export function benchBundles(names: readonly string[]): void {
  for (const name of names) {
    report({ figure: `bundle.${name}`, value: statSync(bundleOf(name)).size / 1024, limit: 500, unit: 'KB' });
    report({ figure: `bundle.${name}.reach`, value: reachOf(name).size, unit: 'files' });
  }
  for (const name of ['health', 'authorizer']) {
    const clients = [...packagesOf(name)].filter((packageName) => packageName.includes('dynamodb'));
    report({ figure: `bundle.${name}.dynamodb_packages`, value: clients.length, limit: 0, unit: 'packages' });
  }
}

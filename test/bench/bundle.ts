import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const dist = new URL('../../dist/', import.meta.url).pathname;

function builtFrom() {
  return JSON.parse(readFileSync(join(dist, 'meta', 'functions.json'), 'utf8')) as {
    outputs: Record<string, { inputs: Record<string, { bytesInOutput: number }> }>;
  };
}

/** Returns the packages of which the build put something into the function's bundle. */
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

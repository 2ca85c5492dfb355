import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import * as v from 'valibot';
import { parseSeed, type Seed } from './seed.ts';
import { startSimulator } from './server.ts';

// The simulator as a program. It prints one line when ready and exits on SIGTERM or SIGINT.
const usage = `Simulates the platform on this machine, with a console in the browser, until Ctrl-C.

PLATFORM_PORT    its port (3001); 0 takes any free one
PLATFORM_SEED    a JSON file with tokens, apps and WABAs in place of the demo world
`;

for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => process.exit(0));

const given = process.argv.slice(2);
if (given.length > 0) {
  const isAsked = given.length === 1 && /^(?:--help|-h)$/.test(given[0] ?? '');
  (isAsked ? process.stdout : process.stderr).write(usage);
  process.exit(isAsked ? 0 : 2);
}

const port = Number(process.env['PLATFORM_PORT'] ?? '3001');
try {
  const simulator = await startSimulator({ port, ...seedOf(process.env['PLATFORM_SEED']) });
  console.log(`platform ${simulator.url}`);
} catch (error) {
  const taken = error instanceof Error && 'code' in error && error.code === 'EADDRINUSE';
  console.error(taken ? `port ${port} is taken: set PLATFORM_PORT to another one` : error);
  process.exit(1);
}

/** npm runs scripts in the folder of package.json; INIT_CWD is the folder in which it was called. */
function seedOf(file: string | undefined): { readonly seed?: Seed } {
  if (file === undefined || file === '') return {};
  try {
    return { seed: parseSeed(JSON.parse(readFileSync(resolve(process.env['INIT_CWD'] ?? '.', file), 'utf8'))) };
  } catch (error) {
    const where = error instanceof v.ValiError ? `${v.getDotPath(error.issues[0]) ?? 'the whole'}: ` : '';
    console.error(`PLATFORM_SEED cannot be read: ${where}${error instanceof Error ? error.message : error}`);
    process.exit(1);
  }
}

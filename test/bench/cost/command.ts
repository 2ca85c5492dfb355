import { spawn } from 'node:child_process';
import { once } from 'node:events';

/**
 * Runs `npm run cost` in a process of its own, because metrics count as log bytes there and are switched off here.
 * Resolves to false when a figure is above its limit.
 */
export async function benchCost(signal: AbortSignal): Promise<boolean> {
  const { POWERTOOLS_METRICS_DISABLED: _disabled, ...env } = process.env;
  const program = new URL('../cost.ts', import.meta.url).pathname;
  const child = spawn(process.execPath, [program, '--figures'], { stdio: 'inherit', env, signal });
  const [code] = await once(child, 'exit');
  return code === 0;
}

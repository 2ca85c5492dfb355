import { spawn } from 'node:child_process';
import { once } from 'node:events';

/**
 * The figures of `npm run cost`, in a process of its own: its log bytes are those of metrics too, which are switched off here.
 * False when one is above its limit.
 */
export async function benchCost(signal: AbortSignal): Promise<boolean> {
  const { POWERTOOLS_METRICS_DISABLED: _disabled, ...env } = process.env;
  const program = new URL('../cost.ts', import.meta.url).pathname;
  const child = spawn(process.execPath, [program, '--figures'], { stdio: 'inherit', env, signal });
  const [code] = await once(child, 'exit');
  return code === 0;
}

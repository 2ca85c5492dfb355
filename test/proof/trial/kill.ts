import type { RunningStack } from '../../../infra/local/stack.ts';
import { purposeOf } from '../../../infra/names.ts';

/** Returns the busy processes of a function. */
export function pidsOf({ template, runner, addresses }: RunningStack, purpose: string): number[] {
  return runner
    .instances()
    .filter(({ functionId, busy, pid }) => {
      const name = template.functions[functionId]?.name ?? '';
      return busy && pid > 0 && purposeOf(addresses.stage, name) === purpose;
    })
    .map(({ pid }) => pid);
}

/** Kills a process of a stack as if its host had died. Returns false for one that has ended meanwhile. */
export function killed(pid: number): boolean {
  try {
    return process.kill(pid, 'SIGKILL');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
    return false;
  }
}

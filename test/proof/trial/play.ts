import { runScript } from '../../../infra/local/processes.ts';
import { CommandError } from '../../../infra/operate/command.ts';
import { shownAudit } from '../../support/send-audit.ts';
import { interrupted } from '../command.ts';
import type { Verdict } from './trial.ts';

/** Small, and over something that runs: what happens, what tells it, what mends it. */
export interface Description {
  readonly name: string;
  /** One sentence says what goes wrong. */
  readonly incident: string;
  /** The functions were built a moment ago. Returns the line of the summary; throws when it does not end well. */
  readonly play: (interrupted: AbortSignal) => Promise<string>;
}

/** Plays them one after the other, and tells how each ended. Throws a `CommandError` of status 1 when one failed. */
export async function playAll(descriptions: readonly Description[]): Promise<void> {
  await runScript('infra/build.ts', { signal: interrupted });
  const lines: string[] = [];
  let failed = 0;
  for (const { name, incident, play } of descriptions) {
    if (interrupted.aborted) throw new CommandError('Interrupted.', 1);
    console.log(`\n${name}: ${incident}`);
    const startedMs = performance.now();
    try {
      const line = await play(interrupted);
      lines.push(`ok     ${name}: ${line}; ${Math.round((performance.now() - startedMs) / 1_000)} s`);
    } catch (error) {
      failed += 1;
      console.error(error);
      lines.push(`failed ${name}: ${error instanceof Error ? error.message.split('\n', 1)[0] : error}`);
    }
  }
  console.log(`\n${lines.join('\n')}`);
  if (failed > 0) throw new CommandError(`${failed} of ${descriptions.length} failed`, 1);
}

/** Throws when the description has compared nothing. */
export function shownVerdict(verdict: Verdict | undefined): string {
  if (verdict === undefined) throw new Error('nothing was compared');
  return shownAudit(verdict.audit);
}

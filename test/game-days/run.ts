import { runScript } from '../../infra/local/processes.ts';
import { CommandError, commandLine } from '../../infra/operate/command.ts';
import { interrupted, proofCommand } from '../proof/command.ts';
import { gameDays } from './all.ts';
import { played } from './game.ts';

const usage = `Incidents, rehearsed on local stacks of their own: each makes the trouble, shows the alarm and the line that tell it, ends it by
the commands of the run book, and counts at the platform simulator that no recipient was lost and none was written to twice.

npm run proof -- game-days             all of them, one after the other
npm run proof -- game-days NAME ...    some: ${gameDays.map(({ name }) => name).join(', ')}`;

async function run(): Promise<void> {
  const { values, positionals } = commandLine({ options: { help: { type: 'boolean' } }, allowPositionals: true });
  if (values.help) return console.log(usage);
  const unknown = positionals.filter((name) => !gameDays.some((day) => day.name === name));
  if (unknown.length > 0) throw new CommandError(`no game day is called ${unknown.join(', ')}\n\n${usage}`);
  const chosen = gameDays.filter(({ name }) => positionals.length === 0 || positionals.includes(name));
  await runScript('infra/build.ts', { signal: interrupted });
  const lines: string[] = [];
  let failed = 0;
  for (const day of chosen) {
    if (interrupted.aborted) throw new CommandError('Interrupted.', 1);
    try {
      lines.push(`ok     ${day.name}: ${await played(day, interrupted)}`);
    } catch (error) {
      failed += 1;
      console.error(error);
      lines.push(`failed ${day.name}: ${error instanceof Error ? error.message.split('\n', 1)[0] : error}`);
    }
  }
  console.log(`\n${lines.join('\n')}`);
  if (failed > 0) throw new CommandError(`${failed} of ${chosen.length} game days failed`, 1);
}

await proofCommand(run);

import { CommandError, commandLine } from '../../infra/operate/command.ts';
import { proofCommand } from '../proof/command.ts';
import { playAll } from '../proof/trial/play.ts';
import { gameDays } from './all.ts';

const usage = `Incidents, rehearsed on local stacks of their own: each makes the trouble, shows the alarm and the line that tell it, ends it by
the commands of the run book, and counts at the platform simulator that no recipient was lost and none was written to twice.

npm run proof -- game-days             all of them, one after the other
npm run proof -- game-days NAME ...    some: ${gameDays.map(({ name }) => name).join(', ')}`;

async function run(): Promise<void> {
  const { values, positionals } = commandLine({ options: { help: { type: 'boolean' } }, allowPositionals: true });
  if (values.help) return console.log(usage);
  const unknown = positionals.filter((name) => !gameDays.some((day) => day.name === name));
  if (unknown.length > 0) throw new CommandError(`no game day is called ${unknown.join(', ')}\n\n${usage}`);
  await playAll(gameDays.filter(({ name }) => positionals.length === 0 || positionals.includes(name)));
}

await proofCommand(run);

import { runCommand } from '../../infra/operate/command.ts';
import { runSteps } from '../steps.ts';
import { proofsAsked } from './asked.ts';

// `npm run proof -- NAME ... [OPTION ...]`: long proofs, one after the other; all of them without a name, for hours.
// Exit status 1 when one failed.
await runCommand(async () => {
  process.exitCode = await runSteps(proofsAsked(process.argv.slice(2)));
});

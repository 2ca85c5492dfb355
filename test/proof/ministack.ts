import { CommandError, commandLine } from '../../infra/operate/command.ts';
import { canEmulate } from '../../infra/operate/stage/emulator/ministack.ts';
import { bootstrap, commitOf, deploy, removeStateless, versionOf } from '../../infra/operate/stage/emulator/stage.ts';
import { emulatedPlace, provisionDemo, startEmulatedService, synchronized } from '../support/emulated-service.ts';
import { shownCounts } from '../support/send-audit.ts';
import { proofCommand } from './command.ts';
import { type Description, playAll, shownVerdict } from './trial/play.ts';
import { Trial } from './trial/trial.ts';

const usage = `Deploys the service to an emulator of AWS that others have written, an older commit of it first, and does to it in the
middle of sending what operators do: takes the stateless stack away and puts it up again, updates to this checkout,
goes back. Then compares what the platform simulator took with what the reports say: none lost, none twice.

npm run proof -- ministack [--from COMMIT] [--recipients N]

  --from COMMIT    an older commit of the same formats; by default the one before this one
  --recipients N   of each of the three sends, 100 to 10000; 3000 by default`;

/** The number is so slow that each deed to the stacks falls into the middle. */
const throughputPerSecond = 40;
const minutes = 60;

/** Sends, and does `deed` when some has left; the proof is about what still waits then. */
async function sendDuring(trial: Trial, what: string, recipients: number, deed: () => Promise<void>): Promise<void> {
  const before = await trial.taken();
  await trial.send(await trial.logIn(), recipients);
  await trial.midway(before + recipients / 10);
  trial.tell('trouble', what);
  await deed();
  trial.tell('trouble', `${what}: done, ${(await trial.taken()) - before} have left`);
  trial.askBy(await trial.logIn());
  const counts = await trial.ended();
  trial.tell('end', `the reports say ${shownCounts(counts)}`);
  if (counts?.pending !== 0) throw new CommandError('messages are still pending, and nothing moves', 1);
}

function updates(options: { readonly from: string; readonly recipients: number }): Description {
  return {
    name: 'ministack',
    incident: 'the stateless stack is deleted, updated and taken back in the middle of sending',
    play: (interrupted) => prove(interrupted, options),
  };
}

async function prove(
  interrupted: AbortSignal,
  { from, recipients }: { readonly from: string; readonly recipients: number },
): Promise<string> {
  const commit = commitOf(from);
  const endMs = performance.now() + minutes * 60_000;
  const signal = AbortSignal.any([interrupted, AbortSignal.timeout(minutes * 60_000)]);
  const service = await startEmulatedService(signal);
  const { environment: aws, platformUrl } = service;
  try {
    const older = versionOf(platformUrl, commit);
    const current = versionOf(platformUrl);
    const trial = new Trial(emulatedPlace(service, { signal, endMs }));
    bootstrap(aws);
    deploy(older, aws);
    // The older commit provisions, because this checkout's command may need tables that it does not have.
    await provisionDemo(service, { throughputPerSecond, folder: older.folder, signal });
    const total = await synchronized(service, await trial.logIn(), signal);
    trial.tell('calm', `synchronized, ${total} templates`);
    await sendDuring(trial, 'the stateless stack is deleted and put up again', recipients, async () => {
      removeStateless(older, aws);
      const gone = await trial.taken();
      trial.tell('trouble', `nothing runs, and ${recipients - gone} wait`);
      if (gone === recipients) throw new CommandError('all had left before the stack was gone', 1);
      deploy(older, aws);
    });
    await sendDuring(trial, `updated from ${older.name} to this checkout`, recipients, async () =>
      deploy(current, aws),
    );
    await sendDuring(trial, `taken back to ${older.name}`, recipients, async () => deploy(older, aws));
    await trial.proven();
    return shownVerdict(trial.verdict);
  } finally {
    await service.stop();
  }
}

async function run(): Promise<void> {
  const { values } = commandLine({
    options: {
      from: { type: 'string', default: 'HEAD^' },
      recipients: { type: 'string', default: '3000' },
      help: { type: 'boolean' },
    },
  });
  if (values.help) return console.log(usage);
  const recipients = Number(values.recipients);
  if (!/^\d{3,5}$/.test(values.recipients) || recipients > 10_000)
    throw new CommandError(`--recipients takes 100 to 10000, not ${values.recipients}`);
  if (!canEmulate()) return console.log('ministack: left out, it needs Python 3.10 or newer as python3');
  await playAll([updates({ from: values.from, recipients })]);
}

await proofCommand(run);

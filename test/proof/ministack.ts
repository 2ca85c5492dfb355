import { audience, demoDid, orderUpdate } from '../../infra/local/demo/audience.ts';
import { watched } from '../../infra/local/demo/watching.ts';
import { CommandError, commandLine } from '../../infra/operate/command.ts';
import { canEmulate } from '../../infra/operate/stage/emulator/ministack.ts';
import { bootstrap, commitOf, deploy, removeStateless, versionOf } from '../../infra/operate/stage/emulator/stage.ts';
import { countsOf, type Dispatch, takenAt } from '../faults/running/campaign.ts';
import {
  compared,
  type EmulatedService,
  provisionDemo,
  served,
  startEmulatedService,
  synchronized,
} from '../support/emulated-service.ts';
import { shownAudit, soundAudit } from '../support/send-audit.ts';
import { interrupted, proofCommand } from './command.ts';

const usage = `Deploys the service to an emulator of AWS that others have written, an older commit of it first, and does to it in the
middle of sending what operators do: takes the stateless stack away and puts it up again, updates to this checkout,
goes back. Then compares what the platform simulator took with what the reports say: none lost, none twice.

npm run proof -- ministack [--from COMMIT] [--recipients N]

  --from COMMIT    an older commit of the same formats; by default the one before this one
  --recipients N   of each of the three sends, 100 to 10000; 3000 by default`;

const clientId = 1001;
/** The number is so slow that each deed to the stacks falls into the middle. */
const throughputPerSecond = 40;
/**
 * What a deleted worker held is redelivered after 90 s: the emulator has a quarter of the deployed visibility timeout.
 */
const quietLimitMs = 4 * 60_000;
const everyMs = 1_000;

const signal = interrupted;

interface Course {
  readonly service: EmulatedService;
  readonly recipients: number;
  readonly dispatches: Dispatch[];
}

/** Sends, and does `deed` when some has left; the proof is about what still waits then. */
async function sendDuring(course: Course, what: string, deed: () => Promise<void>): Promise<void> {
  const { service, recipients, dispatches } = course;
  const { platformUrl } = service;
  const client = await served(service, signal);
  const taken = async () => (await takenAt(platformUrl, signal)).length;
  const before = await taken();
  const dispatchId = await client.send({
    did: demoDid,
    template: orderUpdate,
    recipients: audience(recipients, dispatches.length),
  });
  dispatches.push({ client, clientId, did: demoDid, dispatchId, total: recipients });
  const isOver = (count: number) => count - before >= recipients / 10;
  await watched({ look: taken, isOver, sign: String, everyMs, quietLimitMs: 120_000, signal });
  const left = (await taken()) - before;
  if (left < recipients / 10 || left === recipients)
    throw new CommandError(`${what}: ${left} of ${recipients} had left, which is not the middle`, 1);
  console.log(`ministack: ${what} when ${left} of ${recipients} have left`);
  await deed();
  console.log(`ministack: ${what}: done, ${(await taken()) - before} have left`);
  await ended(course);
}

/** Waits until nothing is pending in any report, or nothing moves any more. */
async function ended(course: Course): Promise<void> {
  const client = await served(course.service, signal);
  const dispatches = course.dispatches.map((dispatch) => ({ ...dispatch, client }));
  course.dispatches.splice(0, dispatches.length, ...dispatches);
  const look = () => countsOf(dispatches);
  const isOver = (counts: Awaited<ReturnType<typeof look>>) => counts?.pending === 0;
  const counts = await watched({ look, isOver, sign: (all) => all, everyMs: 2 * everyMs, quietLimitMs, signal });
  console.log(`ministack: the reports say ${JSON.stringify(counts)}`);
  if (!isOver(counts)) throw new CommandError('messages are still pending, and nothing moves', 1);
}

async function proven({ service, dispatches }: Course): Promise<void> {
  const audit = await compared(service, dispatches, signal);
  console.log(`ministack: ${shownAudit(audit)}`);
  soundAudit(audit);
}

async function prove(options: { readonly from: string; readonly recipients: number }): Promise<void> {
  const { from, recipients } = options;
  const commit = commitOf(from);
  const service = await startEmulatedService(signal);
  const { environment: aws, platformUrl } = service;
  try {
    const older = versionOf(platformUrl, commit);
    const current = versionOf(platformUrl);
    const course = { service, recipients, dispatches: [] };
    bootstrap(aws);
    deploy(older, aws);
    // The older commit provisions, because this checkout's command may need tables that it does not have.
    await provisionDemo(service, { throughputPerSecond, folder: older.folder, signal });
    const total = await synchronized(service, await served(service, signal), signal);
    console.log(`ministack: synchronized, ${total} templates`);
    await sendDuring(course, 'the stateless stack is deleted and put up again', async () => {
      removeStateless(older, aws);
      const gone = await takenAt(platformUrl, signal);
      console.log(`ministack: nothing runs, and ${recipients - gone.length} wait`);
      if (gone.length === recipients) throw new CommandError('all had left before the stack was gone', 1);
      deploy(older, aws);
    });
    await sendDuring(course, `updated from ${older.name} to this checkout`, async () => deploy(current, aws));
    await sendDuring(course, `taken back to ${older.name}`, async () => deploy(older, aws));
    await proven(course);
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
  await prove({ from: values.from, recipients });
}

await proofCommand(run);

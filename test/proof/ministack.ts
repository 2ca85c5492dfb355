import { readFileSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import { join, resolve } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { audience, demoDid, orderUpdate } from '../../infra/local/demo/audience.ts';
import { ApiRefusal, call, type DemoClient, logIn } from '../../infra/local/demo/client.ts';
import { watched } from '../../infra/local/demo/watching.ts';
import { startSimulatorProcess } from '../../infra/local/processes.ts';
import { closeAtOnce, openOnLoopback } from '../../infra/loopback.ts';
import { CommandError, commandLine, runCommand } from '../../infra/operate/command.ts';
import {
  canEmulate,
  emulatedAws,
  emulatedRegion,
  emulatorFolder,
  ran,
  startMinistack,
} from '../../infra/operate/emulator/ministack.ts';
import {
  addressOfApi,
  bootstrap,
  commitOf,
  deploy,
  emulatedStage,
  removeStateless,
  versionOf,
} from '../../infra/operate/emulator/stage.ts';
import { countsOf, type Job, takenAt, toldOf } from '../faults/running/campaign.ts';
import { audited, auditOf } from '../support/send-audit.ts';

const usage = `Deploys the service to an emulator of AWS that others have written, an older commit of it first, and does to it in the
middle of sending what operators do: takes the stateless stack away and puts it up again, updates to this checkout,
goes back. Then compares what the platform simulator took with what the reports say: nobody lost, nobody twice.

npm run proof -- ministack                         the commit before this one, and 3,000 recipients for each of the three
node infra/run.mjs test/proof/ministack.ts         the same
                --from COMMIT --recipients N       another commit of the same formats; fewer recipients`;

const user = 'supervisor1001';
const clientId = 1001;
const appId = '500000000000001';
/** So slow that whatever is done to the stacks is done in the middle. */
const throughputPerSecond = 40;
/** What a worker held that was taken away comes again after one and a half times the minute that it has. */
const quietLimitMs = 4 * 60_000;
const everyMs = 1_000;

const interrupted = new AbortController();
const { signal } = interrupted;
const root = resolve(import.meta.dirname, '../..');

/** A name of our own for the API, as a deployment has it: what the platform tells reaches whichever API stands now. */
interface Door {
  readonly url: string;
  leadTo(apiUrl: string): void;
  readonly stop: () => Promise<void>;
}

async function openDoor(): Promise<Door> {
  let apiUrl = '';
  const server = createServer(async (request, response) => {
    try {
      const init = {
        method: 'POST',
        headers: signedHeaders(request.headers),
        body: new Uint8Array(await buffer(request)),
      };
      const answer = await fetch(`${apiUrl}${request.url}`, init);
      response.writeHead(answer.status).end(await answer.text());
    } catch {
      // No API stands behind it just now: the platform posts again.
      response.writeHead(502).end();
    }
  });
  const port = await openOnLoopback(server, 0);
  return {
    url: `http://127.0.0.1:${port}`,
    leadTo: (url) => {
      apiUrl = url;
    },
    stop: () => closeAtOnce(server),
  };
}

function signedHeaders(headers: IncomingHttpHeaders): Record<string, string> {
  const names = ['content-type', 'x-hub-signature', 'x-hub-signature-256'];
  return Object.fromEntries(names.map((name) => [name, String(headers[name])]));
}

interface Course {
  readonly endpoint: string;
  readonly door: Door;
  readonly platformUrl: string;
  readonly recipients: number;
  readonly jobs: Job[];
}

/** The demo data with slow numbers: the platform says no throughput of them, for its word would count instead. */
async function provisioningFile(platformUrl: string): Promise<string> {
  const file = join(emulatorFolder, 'provisioning.json');
  const demo = JSON.parse(readFileSync(join(root, 'infra/local/demo/provisioning.json'), 'utf8'));
  for (const { phone_number_id: id } of demo.channels) {
    const body = { throughput: { level: 'NOT_APPLICABLE' } };
    await call({ baseUrl: platformUrl, route: `POST /_control/numbers/${id}`, body, signal });
  }
  const channels = demo.channels.map((channel: object) => ({ ...channel, throughput_per_second: throughputPerSecond }));
  writeFileSync(file, JSON.stringify({ ...demo, channels, $schema: undefined }));
  return file;
}

/** The API as it is deployed now: its address changes with the stack, that for the platform stays. */
async function served({ endpoint, door, platformUrl }: Course): Promise<DemoClient> {
  const apiUrl = await addressOfApi(endpoint);
  door.leadTo(apiUrl);
  const callback = { callback_url: `${door.url}/platform/webhook` };
  await call({ baseUrl: platformUrl, route: `POST /_control/apps/${appId}`, body: callback, signal });
  const addresses = { dynamodbEndpoint: endpoint, secretsEndpoint: endpoint, region: emulatedRegion };
  return logIn({ apiUrl, platformUrl, stage: emulatedStage, ...addresses }, user, signal);
}

async function synchronized({ endpoint }: Course, client: DemoClient): Promise<void> {
  const baseUrl = await addressOfApi(endpoint);
  const login = { username: user, password: `demo-${user}` };
  const { json } = await call({ baseUrl, route: 'POST /login', body: login, signal });
  const { access_token: token } = json as { readonly access_token: string };
  await call({ baseUrl, route: 'POST /v1/templates/sync-from-platform', body: {}, token, signal });
  const look = async () => (await client.listTemplates()).total;
  const total = await watched({ look, isOver: (all) => all > 0, sign: String, everyMs, quietLimitMs: 60_000, signal });
  if (total === 0) throw new CommandError('no template came by the synchronization', 1);
  console.log(`ministack: synchronized, ${total} templates`);
}

/** Sends, and does `deed` when some of it has left; what must still wait then is what the proof is about. */
async function sendDuring(course: Course, what: string, deed: () => Promise<void>): Promise<void> {
  const { platformUrl, recipients, jobs } = course;
  const client = await served(course);
  const taken = async () => (await takenAt(platformUrl, signal)).length;
  const before = await taken();
  const jobId = await client.send({
    did: demoDid,
    template: orderUpdate,
    recipients: audience(recipients, jobs.length),
  });
  jobs.push({ client, clientId, did: demoDid, jobId, total: recipients });
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
  const client = await served(course);
  const jobs = course.jobs.map((job) => ({ ...job, client }));
  course.jobs.splice(0, jobs.length, ...jobs);
  const look = () => countsOf(jobs);
  const isOver = (counts: Awaited<ReturnType<typeof look>>) => counts?.pending === 0;
  const counts = await watched({ look, isOver, sign: (all) => all, everyMs: 2 * everyMs, quietLimitMs, signal });
  console.log(`ministack: the reports say ${JSON.stringify(counts)}`);
  if (!isOver(counts)) throw new CommandError('messages are still pending, and nothing moves', 1);
}

/** How much the platform has still to tell the service. */
async function untold(platformUrl: string): Promise<number> {
  const { json } = await call({ baseUrl: platformUrl, route: 'GET /_control/webhooks?limit=0', signal });
  const { planned, due } = json as { readonly planned: number; readonly due: number };
  return planned + due;
}

/** Compares reports and record; while the platform has receipts to tell that may settle who is `unknown`, once more. */
async function compared({ platformUrl, jobs }: Course): Promise<void> {
  const look = async () => ({
    untold: await untold(platformUrl),
    audit: auditOf(await toldOf(jobs), await takenAt(platformUrl, signal)),
  });
  const { audit } = await watched({
    look,
    isOver: (seen) => seen.audit.unknownTaken.length === 0,
    sign: (seen) => [seen.untold, seen.audit.unknownTaken.length],
    everyMs: 5 * everyMs,
    quietLimitMs: 60_000,
    signal,
  });
  const { recipients, reached, duplicates, lost, unknownNeverTaken } = audit;
  console.log(
    `ministack: ${recipients} recipients, ${reached} reached, ${lost.length} lost, ${duplicates} doubled, ${unknownNeverTaken.length} unknown and never reached`,
  );
  const faults = audited(audit);
  if (faults.length > 0) throw new CommandError(faults.join('\n'), 1);
}

async function prove(options: { readonly from: string; readonly recipients: number }): Promise<void> {
  const { from, recipients } = options;
  const commit = commitOf(from);
  const emulator = await startMinistack();
  const simulator = await startSimulatorProcess(0, { signal });
  const door = await openDoor();
  const aws = emulatedAws(emulator.endpoint);
  // Clients of this process, too, reach the emulator and nothing else.
  for (const [name, value] of Object.entries(aws)) {
    if (value === undefined) delete process.env[name];
    else process.env[name] = value;
  }
  try {
    const older = versionOf(simulator.endpoint, commit);
    const current = versionOf(simulator.endpoint);
    const course = { endpoint: emulator.endpoint, door, platformUrl: simulator.endpoint, recipients, jobs: [] };
    bootstrap(aws);
    deploy(older, aws);
    // By its own command: this checkout's may need tables that the older one has not.
    const file = await provisioningFile(simulator.endpoint);
    const provision = ['infra/run.mjs', 'infra/operate/provision.ts', file, '--stage', emulatedStage];
    const environment = { ...aws, PLATFORM_BASE_URL: simulator.endpoint };
    ran(process.execPath, provision, { environment, folder: older.folder });
    await synchronized(course, await served(course));
    await sendDuring(course, 'the stateless stack is deleted and put up again', async () => {
      removeStateless(older, aws);
      const gone = await takenAt(simulator.endpoint, signal);
      console.log(`ministack: nothing runs, and ${recipients - gone.length} wait`);
      if (gone.length === recipients) throw new CommandError('all had left before the stack was gone', 1);
      deploy(older, aws);
    });
    await sendDuring(course, `updated from ${older.name} to this checkout`, async () => deploy(current, aws));
    await sendDuring(course, `taken back to ${older.name}`, async () => deploy(older, aws));
    await compared(course);
  } finally {
    await simulator.stop();
    await door.stop();
    await emulator.stop();
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
  try {
    await prove({ from: values.from, recipients });
  } catch (error) {
    if (interrupted.signal.aborted) throw new CommandError('Interrupted.', 1);
    if (error instanceof ApiRefusal) throw new CommandError(error.message, 1);
    throw error;
  }
}

for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(name, () => interrupted.abort());

await runCommand(run);
// Nothing is left to do: connections that are still kept alive must not delay the end.
process.exit();

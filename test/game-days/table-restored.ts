import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, rmSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { BatchWriteCommand, type DynamoDBDocumentClient, paginateScan } from '@aws-sdk/lib-dynamodb';
import { audience, demoDid, orderUpdate } from '../../infra/local/demo/audience.ts';
import { ApiRefusal } from '../../infra/local/demo/client.ts';
import { canEmulate, emulatorFolder, ran } from '../../infra/operate/emulator/ministack.ts';
import { bootstrap, deploy, emulatedStage, versionOf } from '../../infra/operate/emulator/stage.ts';
import { awsTarget } from '../../infra/operate/target.ts';
import { countsOf, type Job, takenAt } from '../faults/running/campaign.ts';
import {
  compared,
  type EmulatedService,
  provisionDemo,
  served,
  startEmulatedService,
  synchronized,
} from '../support/emulated-service.ts';
import { audited } from '../support/send-audit.ts';
import { type GameDay, shownAudit, shownCounts, tellPart, untilSo } from './game.ts';
import { bookMeaning, recoveryBlocks } from './run-book.ts';
import { openShell } from './shell.ts';

const endedRecipients = 60;
const recipients = 800;
/** So slow that there is a middle: a job is turned into messages 20 s ahead of them. */
const limitPerSecond = 10;
const mostLines = 40;
/** What the doctor finds on an emulator that has no alarms, no quotas and no name for its gateway. */
const mayFail = [/^npm run doctor/];

/** Why it cannot be played here; undefined where it can. */
function missing(): string | undefined {
  if (!canEmulate()) return 'Python 3.10 or newer as python3';
  for (const tool of ['bash', 'jq']) if (spawnSync(tool, ['--version']).status !== 0) return tool;
  return undefined;
}

/** The AWS CLI of this machine, else its Python package beside the emulator. Returns where commands are looked for. */
function pathWithAws(): string {
  const path = [process.env['PATH'], join(emulatorFolder, 'bin')].join(delimiter);
  if (spawnSync('aws', ['--version'], { env: { PATH: path } }).status !== 0)
    ran(join(emulatorFolder, 'bin', 'pip'), ['install', '--quiet', '--disable-pip-version-check', 'awscli==1.*']);
  return path;
}

/** What is listed by the hundred is told by its beginning. */
function shortened(output: string): string {
  const lines = output.split('\n');
  if (lines.length <= mostLines) return output;
  return [...lines.slice(0, mostLines), `(and ${lines.length - mostLines} lines more)`].join('\n');
}

class Rehearsal {
  readonly #service: EmulatedService;
  readonly #shell: ReturnType<typeof openShell>;
  readonly #signal: AbortSignal;
  readonly jobs: Job[] = [];

  constructor(service: EmulatedService, shell: ReturnType<typeof openShell>, signal: AbortSignal) {
    [this.#service, this.#shell, this.#signal] = [service, shell, signal];
  }

  async send(count: number): Promise<Job> {
    const client = await served(this.#service, this.#signal);
    const people = audience(count, this.jobs.length);
    const jobId = await client.send({ did: demoDid, template: orderUpdate, recipients: people });
    const job = { client, clientId: 1001, did: demoDid, jobId, total: count };
    this.jobs.push(job);
    tellPart('calm', `${count} recipients accepted, dispatch ${jobId}`);
    return job;
  }

  taken = async () => (await takenAt(this.#service.platformUrl, this.#signal)).length;

  until<Seen>(what: string, look: () => Promise<Seen>, isSo: (seen: Seen) => boolean): Promise<Seen> {
    return untilSo(what, { look, isSo, signal: this.#signal });
  }

  /** Runs a block of RECOVERY.md as it stands there. Throws where a command of it fails that is not to. */
  async operate(block: string): Promise<string> {
    const { output, failed } = await this.#shell.run(block);
    tellPart('end', `${block.trimEnd().replaceAll(/^/gm, '$ ')}\n${shortened(output)}`);
    const strange = failed.filter((command) => !mayFail.some((known) => known.test(command)));
    if (strange.length > 0) throw new Error(`failed: ${strange.join('; ')}`);
    return output;
  }

  /** What an operator finds in the log of a function. */
  async #logged(functionName: string, word: string): Promise<string> {
    const group = `/template-messaging/${emulatedStage}/${functionName}`;
    const query = `--log-group-name ${group} --filter-pattern '"${word}"' --query 'events[0].message' --output text`;
    return (await this.#shell.run(`aws logs filter-log-events ${query}`)).output;
  }

  async line(functionName: string, event: string, word: string): Promise<void> {
    const look = () => this.#logged(functionName, event);
    const line = await this.until(`${event} is logged`, look, (found) => found.includes(event));
    if (!line.includes(word)) throw new Error(`${event} says another cause: ${line}`);
    tellPart('told', `LINE   ${line.trim()}\n       ${event}: ${bookMeaning(event)}`);
  }
}

/**
 * An operator's script that went too far: of what was there at the moment of the copy, one job is gone altogether, and of another what
 * it is made of. Returns how many items are.
 */
async function damage(table: string, documentClient: DynamoDBDocumentClient, [ended, running]: readonly Job[]) {
  const keys: { readonly pk: string; readonly sk: string }[] = [];
  for await (const { Items = [] } of paginateScan({ client: documentClient }, { TableName: `${table}-restored` })) {
    for (const { pk, sk } of Items as { pk: string; sk: string }[]) {
      if (pk.includes(ended?.jobId ?? '') || pk.startsWith(`PARAMS#${running?.jobId}`)) keys.push({ pk, sk });
    }
  }
  for (let at = 0; at < keys.length; at += 25) {
    const deletions = keys.slice(at, at + 25).map((Key) => ({ DeleteRequest: { Key } }));
    await documentClient.send(new BatchWriteCommand({ RequestItems: { [table]: deletions } }));
  }
  return keys.length;
}

async function play(service: EmulatedService, rehearsal: Rehearsal, signal: AbortSignal): Promise<string> {
  // Calm: one dispatch has ended, another is in its middle.
  await synchronized(service, await served(service, signal), signal);
  const ended = await rehearsal.send(endedRecipients);
  const reported = async () => (await ended.client.report(ended.did, ended.jobId)).counts;
  await rehearsal.until('receipts are in', reported, ({ delivered, read }) => delivered + read === endedRecipients);
  await rehearsal.send(recipients);
  await rehearsal.until('some have left', rehearsal.taken, (taken) => taken > endedRecipients + limitPerSecond);
  const [restore = '', compare = ''] = recoveryBlocks('2. Restore under another name, and compare');
  const example = /^NAME=\S+ AT=\S+$/m;
  if (!example.test(restore)) throw new Error('RECOVERY.md names table and time otherwise');
  tellPart('calm', 'the emulator restores the present alone: what is to be the moment before is restored now');
  const now = new Date().toISOString().replace(/\.\d+/, '');
  await rehearsal.operate(restore.replace(example, `NAME=messages AT=${now}`));

  // Trouble.
  const { documentClient, tableName } = awsTarget(emulatedStage);
  const gone = await damage(tableName('messages'), documentClient, rehearsal.jobs);
  const left = (await rehearsal.taken()) - endedRecipients;
  tellPart('trouble', `${gone} items of messages are deleted, when ${left} of ${recipients} have left`);

  // What tells it: the clients, and the log. The job dies five times in two hours: that alarm is not waited for.
  await rehearsal.line('messages-fan-out', 'job.failed', 'ParametersGone');
  const answer = await reported().catch((error: unknown) => error);
  if (!(answer instanceof ApiRefusal && answer.status === 404))
    throw new Error('the report of a job that is gone is no 404');
  tellPart('told', `CLIENT ${answer.message}`);

  // The end, step by step.
  for (const block of recoveryBlocks('1. Stop what reads and writes')) await rehearsal.operate(block);
  await rehearsal.operate(compare);
  const standing = await rehearsal.taken();
  const output = (
    await Promise.all(recoveryBlocks('3a. Put back what is gone').map((block) => rehearsal.operate(block)))
  ).join();
  if (!output.includes(`${gone} put back`)) throw new Error('other items were put back than were deleted');
  if ((await rehearsal.taken()) !== standing) throw new Error('messages have left while everything was stopped');
  if (standing - endedRecipients >= recipients) throw new Error('all had left: that is not the middle of a campaign');
  for (const block of recoveryBlocks('4. Start again').slice(0, 1)) await rehearsal.operate(block);

  // Proof.
  const { delivered, read } = await reported();
  if (delivered + read !== endedRecipients) throw new Error('the report of the ended dispatch is not as it was');
  tellPart('proof', `the report of the ended dispatch is whole again: ${endedRecipients} delivered or read`);
  const counts = await rehearsal.until(
    'nothing is pending',
    () => countsOf(rehearsal.jobs),
    (all) => all?.pending === 0,
  );
  tellPart('proof', `the reports say ${shownCounts(counts)}`);
  const audit = await compared(service, rehearsal.jobs, signal);
  const faults = audited(audit);
  if (faults.length > 0) throw new Error(faults.join('\n'));
  tellPart('proof', shownAudit(audit));
  return `${shownAudit(audit)}; ${gone} items put back`;
}

async function rehearse(signal: AbortSignal): Promise<string> {
  const lacking = missing();
  if (lacking !== undefined) return `left out, it needs ${lacking}`;
  const service = await startEmulatedService(signal);
  const folder = join(emulatorFolder, 'table-restored');
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const PATH = pathWithAws();
  const shell = openShell(folder, { ...service.environment, PATH, STAGE: emulatedStage }, signal);
  try {
    const version = versionOf(service.platformUrl);
    bootstrap(service.environment);
    deploy(version, service.environment);
    const file = await provisionDemo(service, { throughputPerSecond: limitPerSecond, signal });
    copyFileSync(file, join(folder, 'clients.json'));
    return await play(service, new Rehearsal(service, shell, signal), signal);
  } finally {
    shell.close();
    await service.stop();
  }
}

export const tableRestored: GameDay = {
  name: 'table-restored',
  incident: 'items of the table messages are deleted in the middle of a campaign',
  rehearse,
};

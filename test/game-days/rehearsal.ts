import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, rmSync } from 'node:fs';
import { delimiter, join, resolve } from 'node:path';
import { audience, demoDid, orderUpdate } from '../../infra/local/demo/audience.ts';
import type { DemoClient } from '../../infra/local/demo/client.ts';
import { canEmulate, emulatorFolder, ran } from '../../infra/operate/stage/emulator/ministack.ts';
import { bootstrap, deploy, emulatedStage, versionOf } from '../../infra/operate/stage/emulator/stage.ts';
import { countsOf, type Dispatch, takenAt } from '../faults/running/campaign.ts';
import {
  compared,
  type EmulatedService,
  provisionDemo,
  served,
  startEmulatedService,
  synchronized,
} from '../support/emulated-service.ts';
import { shownAudit, shownCounts, soundAudit } from '../support/send-audit.ts';
import { tellPart, untilSo } from './game.ts';
import { bookMeaning, recoveryBlocks } from './run-book.ts';
import { type OperatorShell, openShell } from './shell.ts';

export const endedRecipients = 60;
/** The campaign needs a middle: a dispatch becomes messages 20 s before they leave. */
const limitPerSecond = 10;
const mostLines = 40;
/** The doctor misses alarms, quotas and the gateway's name on the emulator; a preview ends with 3. */
const mayFail = [/infra\/ops check/, /infra\/ops put-back (?!.*--yes)/];
const operatorsCommand = resolve(import.meta.dirname, '../../infra/ops');

/** Returns what this machine lacks to play it; undefined when nothing is missing. */
function missing(): string | undefined {
  if (!canEmulate()) return 'Python 3.10 or newer as python3';
  for (const tool of ['bash', 'jq']) if (spawnSync(tool, ['--version']).status !== 0) return tool;
  return undefined;
}

/** Installs the Python package of the AWS CLI where the machine has no CLI. Returns the PATH that finds it. */
function pathWithAws(): string {
  const path = [process.env['PATH'], join(emulatorFolder, 'bin')].join(delimiter);
  if (spawnSync('aws', ['--version'], { env: { PATH: path } }).status !== 0)
    ran(join(emulatorFolder, 'bin', 'pip'), ['install', '--quiet', '--disable-pip-version-check', 'awscli==1.*']);
  return path;
}

function shortened(output: string): string {
  const lines = output.split('\n');
  if (lines.length <= mostLines) return output;
  return [...lines.slice(0, mostLines), `(and ${lines.length - mostLines} lines more)`].join('\n');
}

/** An operator follows RECOVERY.md in one shell, on a stage of the emulator of AWS with a campaign. */
export class Rehearsal {
  readonly service: EmulatedService;
  /** The operator works in this folder. */
  readonly folder: string;
  readonly signal: AbortSignal;
  readonly dispatches: Dispatch[] = [];
  readonly #shell: OperatorShell;

  constructor(service: EmulatedService, given: { folder: string; shell: OperatorShell; signal: AbortSignal }) {
    this.service = service;
    this.folder = given.folder;
    this.#shell = given.shell;
    this.signal = given.signal;
  }

  /** Returns one dispatch that has ended, with its receipts, and one of so many recipients in its middle. */
  async campaign(recipients: number): Promise<{ readonly ended: Dispatch; readonly running: Dispatch }> {
    const client = await this.logIn();
    await synchronized(this.service, client, this.signal);
    const ended = await this.send(client, endedRecipients);
    const look = () => this.endedWell(ended);
    await this.until('receipts are in', look, (isSo) => isSo);
    const running = await this.send(client, recipients);
    await this.until('some have left', this.taken, (taken) => taken > endedRecipients + limitPerSecond);
    return { ended, running };
  }

  logIn = () => served(this.service, this.signal);

  async send(client: DemoClient, count: number): Promise<Dispatch> {
    const people = audience(count, this.dispatches.length);
    const dispatchId = await client.send({ did: demoDid, template: orderUpdate, recipients: people });
    const dispatch = { client, clientId: 1001, did: demoDid, dispatchId, total: count };
    this.dispatches.push(dispatch);
    tellPart('calm', `${count} recipients accepted, dispatch ${dispatchId}`);
    return dispatch;
  }

  /** Returns whether the report says of all recipients that the message arrived. */
  async endedWell({ client, did, dispatchId, total }: Dispatch): Promise<boolean> {
    const { delivered, read } = (await client.report(did, dispatchId)).counts;
    return delivered + read === total;
  }

  taken = async () => (await takenAt(this.service.platformUrl, this.signal)).length;

  until<Seen>(what: string, look: () => Promise<Seen>, isSo: (seen: Seen) => boolean): Promise<Seen> {
    return untilSo(what, { look, isSo, signal: this.signal });
  }

  /** Fails when the campaign is over: the trouble is to meet its middle. Returns how many of it have left. */
  async midway(): Promise<number> {
    const left = (await this.taken()) - endedRecipients;
    const all = this.dispatches.reduce((sum, { total }) => sum + total, 0);
    if (left + endedRecipients >= all) throw new Error('all had left: that is not the middle of a campaign');
    return left;
  }

  /** Runs a block of RECOVERY.md as it stands there. Throws when a command of it fails that should not. */
  async operate(block: string): Promise<string> {
    // The book is written for the folder of the repository; this shell has its own.
    const { output, failed } = await this.#shell.run(block.replace(/^infra\/ops /gm, `${operatorsCommand} `));
    tellPart('end', `${block.trimEnd().replaceAll(/^/gm, '$ ')}\n${shortened(output)}`);
    const strange = failed.filter((command) => !mayFail.some((known) => known.test(command)));
    if (strange.length > 0) throw new Error(`failed: ${strange.join('; ')}`);
    return output;
  }

  /**
   * Restores a table under another name. The emulator restores the present, whatever moment is named, so this precedes
   * the damage.
   */
  async restore(name: string): Promise<void> {
    const [block = ''] = recoveryBlocks('2. Restore under another name, and compare');
    const example = /^NAME=\S+ AT=\S+$/m;
    if (!example.test(block)) throw new Error('RECOVERY.md names table and time otherwise');
    const now = new Date().toISOString().replace(/\.\d+/, '');
    await this.operate(block.replace(example, `NAME=${name} AT=${now}`));
  }

  /** Waits for a line in the log of a function that has that word. */
  async line(functionName: string, event: string, word: string): Promise<void> {
    const group = `/template-messaging/${emulatedStage}/${functionName}`;
    const query = `--log-group-name ${group} --filter-pattern '"${event}"' --query 'events[0].message' --output text`;
    const look = async () => (await this.#shell.run(`aws logs filter-log-events ${query}`)).output;
    const line = await this.until(`${event} is logged`, look, (found) => found.includes(event));
    if (!line.includes(word)) throw new Error(`${event} says another cause: ${line}`);
    tellPart('told', `LINE   ${line.trim()}\n       ${event}: ${bookMeaning(event)}`);
  }

  /** Waits for the end of every dispatch. Returns how record and reports compare; throws where they differ. */
  async proven(ended: Dispatch): Promise<string> {
    if (!(await this.endedWell(ended))) throw new Error('the report of the ended dispatch is not as it was');
    tellPart('proof', `the report of the ended dispatch is whole again: ${endedRecipients} delivered or read`);
    const counts = await this.until(
      'nothing is pending',
      () => countsOf(this.dispatches),
      (all) => all?.pending === 0,
    );
    tellPart('proof', `the reports say ${shownCounts(counts)}`);
    const audit = await compared(this.service, this.dispatches, this.signal);
    soundAudit(audit);
    tellPart('proof', shownAudit(audit));
    return shownAudit(audit);
  }
}

/** Deploys a stage to the emulator, provisions it and plays there. Returns the game day's line. */
export async function rehearsed(
  name: string,
  play: (rehearsal: Rehearsal) => Promise<string>,
  signal: AbortSignal,
): Promise<string> {
  const lacking = missing();
  if (lacking !== undefined) return `left out, it needs ${lacking}`;
  const service = await startEmulatedService(signal);
  try {
    const folder = join(emulatorFolder, name);
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(folder, { recursive: true });
    const variables = { ...service.environment, PATH: pathWithAws(), STAGE: emulatedStage };
    const shell = openShell(folder, variables, signal);
    try {
      return await play(await deployed(service, { folder, shell, signal }));
    } finally {
      shell.close();
    }
  } finally {
    await service.stop();
  }
}

/** Deploys and provisions; returns the rehearsal on that stage. */
async function deployed(
  service: EmulatedService,
  given: ConstructorParameters<typeof Rehearsal>[1],
): Promise<Rehearsal> {
  const { folder, shell, signal } = given;
  const version = versionOf(service.platformUrl);
  bootstrap(service.environment);
  deploy(version, service.environment);
  const file = await provisionDemo(service, { throughputPerSecond: limitPerSecond, signal });
  copyFileSync(file, join(folder, 'clients.json'));
  const [beginning = ''] = recoveryBlocks('Recovery');
  // The stage is in the variables, and the functions were built a moment ago.
  await shell.run(beginning.replace(/^(export|npm) .*$/gm, ''));
  return new Rehearsal(service, given);
}

import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, rmSync } from 'node:fs';
import { delimiter, join, resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { DemoClient } from '../../infra/local/demo/client.ts';
import { canEmulate, emulatorFolder, ran } from '../../infra/operate/stage/emulator/ministack.ts';
import { bootstrap, deploy, emulatedStage, versionOf } from '../../infra/operate/stage/emulator/stage.ts';
import { dispatchTimeoutMs } from '../../lib/messages/send/deadlines.ts';
import { type Description, shownVerdict } from '../proof/trial/play.ts';
import type { Dispatch } from '../proof/trial/record.ts';
import { bookMeaning, recoveryBlocks } from '../proof/trial/run-book.ts';
import { type Place, Trial } from '../proof/trial/trial.ts';
import {
  type EmulatedService,
  emulatedPlace,
  provisionDemo,
  startEmulatedService,
  synchronized,
} from '../support/emulated-service.ts';
import { type OperatorShell, openShell } from './shell.ts';

const endedRecipients = 60;
const minutes = 40;
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
export class Rehearsal extends Trial {
  readonly service: EmulatedService;
  /** The operator works in this folder. */
  readonly folder: string;
  readonly #shell: OperatorShell;

  constructor(service: EmulatedService, given: { folder: string; shell: OperatorShell; place: Place }) {
    super(given.place);
    this.service = service;
    this.folder = given.folder;
    this.#shell = given.shell;
  }

  synchronized(client: DemoClient): Promise<number> {
    return synchronized(this.service, client, this.signal);
  }

  /** Returns one dispatch that has ended, with its receipts, and one of so many recipients in its middle. */
  async campaign(recipients: number): Promise<{ readonly ended: Dispatch; readonly running: Dispatch }> {
    const client = await this.logIn();
    await this.synchronized(client);
    const ended = await this.send(client, endedRecipients);
    const look = () => this.endedWell(ended);
    await this.until('receipts are in', look, (isSo) => isSo);
    const running = await this.send(client, recipients);
    await this.midway(endedRecipients + limitPerSecond + 1);
    return { ended, running };
  }

  /** Returns whether the report says of all recipients that the message arrived. */
  async endedWell({ client, did, dispatchId, total }: Dispatch): Promise<boolean> {
    const { delivered, read } = (await client.report(did, dispatchId)).counts;
    return delivered + read === total;
  }

  /** Runs commands as the books say them. */
  tried(block: string): ReturnType<OperatorShell['run']> {
    // The books are written for the folder of the repository; this shell has its own.
    return this.#shell.run(block.replace(/(^|\| )infra\/ops /gm, `$1${operatorsCommand} `));
  }

  /** Runs a block of RECOVERY.md as it stands there. Throws when a command of it fails that should not. */
  async operate(block: string): Promise<string> {
    const { output, failed } = await this.tried(block);
    this.tell('end', `${block.trimEnd().replaceAll(/^/gm, '$ ')}\n${shortened(output)}`);
    const strange = failed.filter((command) => !mayFail.some((known) => known.test(command)));
    if (strange.length > 0) throw new Error(`failed: ${strange.join('; ')}`);
    return output;
  }

  /** Waits as the book says after it has stopped everything: the sender is what works the longest here. */
  async runningEnded(): Promise<void> {
    this.tell('end', 'running functions end');
    await pause(dispatchTimeoutMs, undefined, { signal: this.signal });
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
    this.tell('told', `LINE   ${line.trim()}\n       ${event}: ${bookMeaning(event)}`);
  }

  /** Proves that this dispatch is as it was, and all others, too. */
  async provenWith(ended: Dispatch): Promise<void> {
    if (!(await this.endedWell(ended))) throw new Error('the report of the ended dispatch is not as it was');
    this.tell('proof', `the report of the ended dispatch is whole again: ${endedRecipients} delivered or read`);
    await this.proven();
  }
}

interface EmulatedDescription extends Omit<Description, 'play'> {
  /** Returns what the line of the game day says beside its verdict. */
  readonly play: (rehearsal: Rehearsal) => Promise<string>;
}

/** Describes what needs more of AWS than a local stack has: it is played on a stage that is deployed to the emulator. */
export function emulated({ name, incident, play }: EmulatedDescription): Description {
  return {
    name,
    incident,
    play: async (interrupted) => {
      const lacking = missing();
      if (lacking !== undefined) return `left out, it needs ${lacking}`;
      const endMs = performance.now() + minutes * 60_000;
      const signal = AbortSignal.any([interrupted, AbortSignal.timeout(minutes * 60_000)]);
      const service = await startEmulatedService(signal);
      const folder = join(emulatorFolder, name);
      rmSync(folder, { recursive: true, force: true });
      mkdirSync(folder, { recursive: true });
      const shell = openShell(folder, { ...service.environment, PATH: pathWithAws(), STAGE: emulatedStage }, signal);
      try {
        const rehearsal = await deployed(service, { folder, shell, place: emulatedPlace(service, { signal, endMs }) });
        const more = await play(rehearsal);
        return `${shownVerdict(rehearsal.verdict)}; ${more}`;
      } finally {
        shell.close();
        await service.stop();
      }
    },
  };
}

/** Deploys and provisions; returns the rehearsal on that stage. */
async function deployed(
  service: EmulatedService,
  given: ConstructorParameters<typeof Rehearsal>[1],
): Promise<Rehearsal> {
  const { folder, shell, place } = given;
  const version = versionOf(service.platformUrl);
  bootstrap(service.environment);
  deploy(version, service.environment);
  const file = await provisionDemo(service, { throughputPerSecond: limitPerSecond, signal: place.signal });
  copyFileSync(file, join(folder, 'clients.json'));
  const [beginning = ''] = recoveryBlocks('Recovery');
  // The stage is in the variables, and the functions were built a moment ago.
  await shell.run(beginning.replace(/^(export|npm) .*$/gm, ''));
  return new Rehearsal(service, given);
}

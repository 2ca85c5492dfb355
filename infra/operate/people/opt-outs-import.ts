import { createReadStream } from 'node:fs';
import type { Directory } from '../../../lib/access/directory.ts';
import { directoryStore } from '../../../lib/access/directory-store.ts';
import { forEachConcurrently } from '../../../lib/aws/concurrently.ts';
import { backoff, type Pause } from '../../../lib/aws/pause.ts';
import { tableOf } from '../../../lib/aws/table.ts';
import { isStopped } from '../../../lib/opt-outs/entry.ts';
import { optOutWriter } from '../../../lib/opt-outs/opt-out-store.ts';
import { noOptOuts, type PersonOptOuts } from '../../../lib/opt-outs/person.ts';
import { personNames, type Recipient } from '../../../lib/opt-outs/person-name.ts';
import { type OptOutPorts, recordOptOut } from '../../../lib/opt-outs/record-opt-out.ts';
import { type Scope, textOf } from '../../../lib/opt-outs/scope.ts';
import {
  type Command,
  CommandError,
  type CommandWords,
  callersPath,
  clientIdOf,
  commandLine,
  helpOption,
  stageOption,
  WouldChange,
} from '../command.ts';
import { helpOf } from '../help.ts';
import { auditOf, type OperatorAudit } from '../operator-audit.ts';
import { readPersonKey } from '../person-key.ts';
import { type Progress, progressOn } from '../progress.ts';
import { targetOf } from '../target.ts';
import { mostPeople, type OptOutFile, type OptOutRows, readOptOutFile } from './opt-out-rows.ts';

/** The tables' client has as many connections. */
const mostAtOnce = 50;

const options = {
  client: { type: 'string', value: 'ID', about: 'whose marketing' },
  'dry-run': {
    type: 'boolean',
    default: false,
    about: 'judges and counts, and writes nothing; ends with 3, else with 0 for a file that names no one',
  },
  'at-once': {
    type: 'string',
    value: 'N',
    about: `people that are written side by side, 1 to ${mostAtOnce} (default ${mostAtOnce})`,
  },
  stage: stageOption,
  help: helpOption,
} as const;

const words: CommandWords = {
  lines: ['opt-outs import FILE --client ID [--dry-run]'],
  about: `Stops marketing of a client to everybody in a CSV file: UTF-8, a first line that names the columns, values parted
by commas, semicolons or tabs, ${mostPeople} people at most.

  recipient  a phone number in E.164 digits, with a plus or without, or a
             business-scoped user id
  at         when the person said so, such as 2026-11-22T10:00:00Z; else now.
             The column may be left out, or a value be empty

The file is judged as a whole; where anything is wrong, all of it is told and nothing is written. A run that has died is
completed by the same command. A person who is stopped already stays so; a start that the client has said later stands.
The client is told no events.`,
  options,
};

export interface OptOutsAt {
  readonly directory: Pick<Directory, 'hasClient'>;
  /** Throws `CommandError` when there is no key of people yet. */
  readonly writer: () => Promise<OptOutPorts>;
  readonly audit: OperatorAudit;
}

interface Surroundings {
  readonly print: (line: string) => void;
  readonly tell: (line: string) => void;
  readonly progress: Progress;
  readonly nowMs: () => number;
  readonly pause?: Pause;
}

/**
 * Runs one command line. Throws `CommandError`: status 2 for wrong usage, 1 for an unknown client or a file with
 * faults; and the tables' errors, after a line with the progress.
 */
export async function optOutsImportCommand(
  typed: readonly string[],
  open: (stage: string | undefined) => OptOutsAt | Promise<OptOutsAt>,
  { print, tell, progress, nowMs, pause = backoff(500, 30_000) }: Surroundings,
): Promise<void> {
  const { values, positionals } = commandLine({ args: [...typed], options, allowPositionals: true });
  const [file, ...surplus] = positionals;
  if (file === undefined || surplus.length > 0) throw new CommandError(helpOf(words));
  const clientId = clientIdOf(values.client);
  const atOnce = atOnceOf(values['at-once']);
  const { directory, writer, audit } = await open(values.stage);
  if (!(await directory.hasClient(clientId))) throw new CommandError(`There is no client ${clientId}.`, 1);
  const startMs = nowMs();
  const { rows, duplicates } = await soundFile(callersPath(file), startMs);
  const again = duplicates === 0 ? '' : `, named again ${duplicates} times`;
  print(`${rows.size} people${again}`);
  if (values['dry-run'] && rows.size === 0) return;
  if (values['dry-run']) throw new WouldChange('dry run: nothing was written, nor looked up who is stopped already');
  const ports = await writer();
  const counts = await audit('command.opt_outs_import', { clientId, count: rows.size }, () =>
    writeRows(rows, { clientId, startMs, atOnce, tell, progress, pause }, ports),
  );
  print(`new: ${counts.new}, stopped already: ${counts.stopped}, started later by the client: ${counts.started}`);
}

function atOnceOf(text = String(mostAtOnce)): number {
  if (/^[1-9]\d?$/.test(text) && Number(text) <= mostAtOnce) return Number(text);
  throw new CommandError(`--at-once takes 1 to ${mostAtOnce}, not ${text}`);
}

/** Throws `CommandError` with all faults of a file. */
async function soundFile(path: string, nowMs: number): Promise<OptOutFile> {
  const file = await readOptOutFile(createReadStream(path), nowMs).catch((error: NodeJS.ErrnoException) => {
    if (error.code === undefined) throw error;
    throw new CommandError(
      error.code === 'ENOENT' ? `There is no file ${path}.` : `${path} cannot be read (${error.code}).`,
    );
  });
  const { faults, moreFaults } = file;
  if (faults.length === 0) return file;
  const count = faults.length + moreFaults;
  const more = moreFaults === 0 ? [] : [`and ${moreFaults} more`];
  const head = `Nothing was written: ${path} has ${count === 1 ? '1 fault' : `${count} faults`}.`;
  throw new CommandError([head, ...faults, ...more].join('\n'), 1);
}

interface Writing {
  readonly clientId: number;
  /** Opt-outs without a time have this one. */
  readonly startMs: number;
  readonly atOnce: number;
  readonly tell: (line: string) => void;
  readonly progress: Progress;
  readonly pause: Pause;
}

/** The person is stopped now, was stopped before, or is not stopped, because the client's start is later. */
type Outcome = 'new' | 'stopped' | 'started';

async function writeRows(rows: OptOutRows, writing: Writing, ports: OptOutPorts): Promise<Record<Outcome, number>> {
  const counts = { new: 0, stopped: 0, started: 0 };
  let done = 0;
  const said = () => `${done} of ${rows.size} people are written`;
  try {
    await writing.progress(said, () =>
      forEachConcurrently(rows, writing.atOnce, async ([recipient, atMs = writing.startMs]) => {
        counts[await patiently(() => writeRow({ recipient, atMs }, writing.clientId, ports), writing.pause)] += 1;
        done += 1;
      }),
    );
  } catch (error) {
    writing.tell(`${said()}; the same command writes the rest`);
    throw error;
  }
  return counts;
}

async function writeRow(
  { recipient, atMs }: { readonly recipient: Recipient; readonly atMs: number },
  clientId: number,
  ports: OptOutPorts,
): Promise<Outcome> {
  let before: PersonOptOuts | undefined;
  // The first change is of the recipient's own item, so its state before needs no extra read.
  const change: OptOutPorts['change'] = async (name, rule) => {
    let found: PersonOptOuts | undefined;
    const changed = await ports.change(name, (state) => {
      found = state;
      return rule(state);
    });
    before ??= found;
    return changed;
  };
  const scope: Scope = { kind: 'client', clientId };
  const word = { says: 'stopped', atMs, source: 'import' } as const;
  const { person } = await recordOptOut(
    { scope, recipients: [recipient], word, listedFor: clientId },
    { ...ports, change },
  );
  const isStoppedIn = ({ entries }: PersonOptOuts) => isStopped(entries[textOf(scope)] ?? {});
  if (!isStoppedIn(person)) return 'started';
  return isStoppedIn(before ?? noOptOuts) ? 'stopped' : 'new';
}

/** Throttling passes: on-demand tables grow with the load within minutes. */
const passing: ReadonlySet<string> = new Set([
  'ProvisionedThroughputExceededException',
  'ThrottlingException',
  'RequestLimitExceeded',
  'TimeoutError',
]);
const mostAttempts = 12;

/** Retries throttled calls with backoff, after the client's own immediate retries. */
async function patiently<T>(act: () => Promise<T>, pause: Pause): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await act();
    } catch (error) {
      if (attempt === mostAttempts || !(error instanceof Error && passing.has(error.name))) throw error;
      await pause(attempt);
    }
  }
}

export const command: Command = {
  words,
  run: (typed) =>
    optOutsImportCommand(typed, openStage, {
      print: console.log,
      tell: console.error,
      progress: progressOn(process.stderr),
      nowMs: Date.now,
    }),
};

async function openStage(stage: string | undefined): Promise<OptOutsAt> {
  const target = await targetOf(stage);
  const { documentClient, tableName } = target;
  return {
    directory: directoryStore(documentClient, tableName('directory')),
    audit: auditOf(target, stage),
    writer: async () => {
      const key = await readPersonKey(target);
      if (key === undefined)
        throw new CommandError('There is no key of people: infra/ops provision FILE makes one.', 1);
      const messages = tableOf(documentClient, tableName('messages'));
      return optOutWriter(messages, personNames(key), { mostlyNew: true });
    },
  };
}

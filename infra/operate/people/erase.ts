import { readFileSync } from 'node:fs';
import type { parseArgs } from 'node:util';
import type { Item } from '../../../lib/aws/dynamodb-batch.ts';
import { sleep, storePause } from '../../../lib/aws/pause.ts';
import { dispatchEraser } from '../../../lib/messages/erase/erase-dispatch-store.ts';
import { type Erased, erasePerson } from '../../../lib/messages/erase/erase-person.ts';
import type { ErasePorts } from '../../../lib/messages/erase/erase-ports.ts';
import { learnedIdsStore } from '../../../lib/messages/erase/learned-ids-store.ts';
import { personScans } from '../../../lib/messages/erase/person-scan-store.ts';
import { rewriter } from '../../../lib/messages/erase/rewrite-store.ts';
import {
  addressForm,
  addressFormText,
  addressHint,
  canonicalAddress,
} from '../../../lib/messages/request/recipient-address.ts';
import { type NameOf, personNames } from '../../../lib/opt-outs/person-name.ts';
import {
  type Command,
  CommandError,
  type CommandWords,
  commandLine,
  helpOption,
  jsonOption,
  stageOption,
  WouldChange,
  yesOption,
} from '../command.ts';
import { auditOf, type OperatorAudit, operatorOf } from '../operator-audit.ts';
import { readPersonKey } from '../person-key.ts';
import { type Progress, progressOn } from '../progress.ts';
import { type Target, targetOf } from '../target.ts';
import { erasedAsJson, erasedAsLines, erasureLogged } from './erase-output.ts';

const options = {
  recipient: {
    type: 'string',
    value: 'ID',
    multiple: true,
    about:
      'digits with country code, or a business-scoped user id; may stand several times, for the ids of one person; - reads them from the standard input, a line each, so that no shell remembers them',
  },
  client: {
    type: 'string',
    value: 'ID',
    about: 'only what belongs to this client: dispatches, events, Idempotency-Keys, the row of its list of opt-outs',
  },
  segments: {
    type: 'string',
    value: 'N',
    about: 'reads the tables in so many parts side by side (1 to 64; default 8)',
  },
  'read-units': {
    type: 'string',
    value: 'N',
    about: 'of each part at most so many read units a second (default 1000: a third of what a partition has)',
  },
  yes: { ...yesOption, about: 'really; else it counts what would be erased' },
  json: { ...jsonOption, about: 'all of it, with the log, as one JSON document' },
  stage: stageOption,
  help: helpOption,
} as const;

const words: CommandWords = {
  lines: ['erase --recipient NUMBER [--client ID] [--yes]'],
  about: `Forgets a person (D60): everything that names the number or user id, and what was sent to it. Without --yes it
counts what would be erased, writes nothing, and ends with 3 when there is something. A run may be ended anywhere and repeated.

Messages to the person that have not left end failed with the code erased, without a call. An opt-out stays: it is kept
by a keyed digest, and goes on to refuse. The last line is the log of what was done: JSON without the number.`,
  options,
};

type Wanted = ReturnType<typeof parseArgs<{ options: typeof options }>>['values'];

export interface ErasedStage {
  readonly target: Pick<Target, 'documentClient' | 'tableName' | 'secrets' | 'secretName'>;
  readonly stage: string | undefined;
  /** Returns the operator's name in AWS or on this machine. */
  readonly by: () => Promise<string>;
  readonly audit: OperatorAudit;
}

export interface EraseTerminal {
  readonly print: (line: string) => void;
  readonly tell: (line: string) => void;
  readonly input: () => string;
  readonly progress: Progress;
  readonly nowMs: () => number;
}

/**
 * Runs one command line. Throws `CommandError`: status 2 for wrong usage, 1 when another run may find more, or for
 * items of an unknown kind. No message quotes a recipient.
 */
export async function eraseCommand(
  typed: readonly string[],
  open: (stage: string | undefined) => ErasedStage | Promise<ErasedStage>,
  terminal: EraseTerminal,
): Promise<void> {
  const { values } = commandLine({ args: [...typed], options });
  const ids = idsOf(values, terminal);
  const clientId =
    values.client === undefined ? undefined : wholeNumber(values.client, '--client', Number.MAX_SAFE_INTEGER);
  const pace = {
    segments: wholeNumber(values.segments ?? '8', '--segments', 64),
    unitsPerSecond: wholeNumber(values['read-units'] ?? '1000', '--read-units', 100_000),
  };
  const dryRun = !values.yes;
  const opened = await open(values.stage);
  const nameOf = await namesOf(opened);
  const by = await opened.by();
  const erase = () => withProgress({ ids, clientId }, portsOf(opened, { dryRun, pace, nameOf }, terminal), terminal);
  // The audit has the number of ids only, because no line of it names a person.
  const on = { clientId, count: ids.size };
  const erased = dryRun ? await erase() : await opened.audit('command.erase', on, erase);
  const facts = { erased, dryRun, clientId, atMs: terminal.nowMs() };
  const log = erasureLogged(facts, { by, stage: values.stage, names: [...ids].map(nameOf) });
  if (values.json) terminal.print(JSON.stringify({ ...erasedAsJson(facts), log }, null, 2));
  else for (const line of [...erasedAsLines(facts), JSON.stringify(log)]) terminal.print(line);
  refuseLeftovers(erased, dryRun);
  if (dryRun && Object.values(erased.changed).some((count) => count > 0)) {
    throw new WouldChange('nothing was written: repeat with --yes');
  }
}

/** Tells meanwhile how many items were looked at: the tables may be read for minutes. */
function withProgress(
  person: Parameters<typeof erasePerson>[0],
  ports: ErasePorts,
  { progress }: EraseTerminal,
): Promise<Erased> {
  let looked = 0;
  const counted =
    (each: (items: readonly Item[]) => Promise<void>) =>
    (items: readonly Item[]): Promise<void> => {
      looked += items.length;
      return each(items);
    };
  const told: ErasePorts = {
    ...ports,
    scanMessages: (each) => ports.scanMessages(counted(each)),
    scanEvents: (erasing, each) => ports.scanEvents(erasing, counted(each)),
  };
  return progress(
    () => `${looked} items were looked at`,
    () => erasePerson(person, told),
  );
}

function portsOf(
  { target }: ErasedStage,
  {
    dryRun,
    pace,
    nameOf,
  }: { readonly dryRun: boolean; readonly nameOf: NameOf; readonly pace: Parameters<typeof personScans>[0]['pace'] },
  { nowMs }: EraseTerminal,
): ErasePorts {
  const client = target.documentClient;
  const tables = { messages: target.tableName('messages'), webhooks: target.tableName('webhooks') };
  const writer = rewriter({ client, writes: !dryRun, pause: storePause });
  return {
    ...{ tables, rewriter: writer },
    eraseInDispatch: dispatchEraser({ client, table: tables.messages, rewriter: writer, nowMs }),
    learnedIds: learnedIdsStore({ client, table: tables.messages, nameOf, nowMs }),
    ...personScans({ client, tables, pace, pause: storePause, nowMs, sleep }),
  };
}

function idsOf({ recipient = [] }: Wanted, { input }: EraseTerminal): ReadonlySet<string> {
  const given = recipient.flatMap((each) => (each === '-' ? input().split('\n') : [each]));
  const ids = given.map((each) => each.trim()).filter((each) => each !== '');
  if (ids.length === 0) throw new CommandError('--recipient is missing: a number or a user id');
  const stray = ids.find((id) => !addressForm.test(id));
  if (stray !== undefined) throw new CommandError(`--recipient ${addressFormText}${addressHint(stray)}`);
  return new Set(ids.map(canonicalAddress));
}

function wholeNumber(text: string, option: string, most: number): number {
  const value = Number(text);
  if (!/^\d+$/.test(text) || value < 1 || value > most) {
    throw new CommandError(
      `${option} takes a whole number from 1${most < Number.MAX_SAFE_INTEGER ? ` to ${most}` : ''}, not ${text}`,
    );
  }
  return value;
}

/** The key is read before any write: without the key the log could name no person. */
async function namesOf({ target }: ErasedStage): Promise<NameOf> {
  const key = await readPersonKey(target);
  if (key === undefined) throw new CommandError('There is no key of people yet: `infra/ops provision` creates it.', 1);
  return personNames(key);
}

function refuseLeftovers({ clean, underWay, unknownKinds }: Erased, dryRun: boolean): void {
  if (unknownKinds.length > 0) {
    throw new CommandError(`Items of kinds that this command does not know: ${unknownKinds.join(', ')}`, 1);
  }
  if (dryRun || (clean && underWay === 0)) return;
  throw new CommandError('Something was still being written: run this again in some minutes.', 1);
}

export const command: Command = {
  words,
  run: (typed) =>
    eraseCommand(
      typed,
      async (stage) => {
        const target = await targetOf(stage);
        return { target, stage, by: () => operatorOf(stage), audit: auditOf(target, stage) };
      },
      {
        print: console.log,
        tell: console.error,
        input: () => readFileSync(0, 'utf8'),
        progress: progressOn(process.stderr),
        nowMs: Date.now,
      },
    ),
};

import { readFileSync } from 'node:fs';
import type { parseArgs } from 'node:util';
import { sleep, storePause } from '../../lib/aws/pause.ts';
import { omitUndefined } from '../../lib/keys/omit-undefined.ts';
import { jobEraser } from '../../lib/messages/erase/erase-job-store.ts';
import { type Erased, erasePerson } from '../../lib/messages/erase/erase-person.ts';
import type { ErasePorts } from '../../lib/messages/erase/erase-ports.ts';
import { learnedIdsStore } from '../../lib/messages/erase/learned-ids-store.ts';
import { personScans } from '../../lib/messages/erase/person-scan-store.ts';
import { rewriter } from '../../lib/messages/erase/rewrite-store.ts';
import {
  addressForm,
  addressFormText,
  addressHint,
  canonicalAddress,
} from '../../lib/messages/request/recipient-address.ts';
import { type NameOf, personNames } from '../../lib/opt-outs/person-name.ts';
import { CommandError, commandLine, runCommand } from './command.ts';
import { erasedAsLines, erasureLogged } from './erase-output.ts';
import { auditOf, type OperatorAudit, operatorOf } from './operator-audit.ts';
import { readPersonKey } from './person-key.ts';
import { type Target, targetOf } from './target.ts';

const usage = `Forgets a person (D60): everything that names the number or user id, and what was sent to it.

npm run erase -- --recipient NUMBER --dry-run   counts what would be erased, and writes nothing
npm run erase -- --recipient NUMBER             erases it; may be ended anywhere and repeated

  --recipient ID     digits with country code, or a business-scoped user id; may stand several times, for the ids of one
                     person; - reads them from the standard input, a line each, so that no shell remembers them
  --client ID        only what belongs to this client: jobs, events, Idempotency-Keys, the row of its list of opt-outs
  --segments N       read the tables in so many parts side by side (1 to 64; 8 by default)
  --read-units N     of each part at most so many read units a second (1,000 by default: a third of what a partition has)
  --stage NAME       a deployment on AWS; without it, the running local stack

Messages to the person that have not left end failed with the code erased, without a call. An opt-out stays: it is kept by a
keyed digest, and goes on to refuse. The last line is the log of what was done: JSON without the number.`;

const options = {
  recipient: { type: 'string', multiple: true },
  client: { type: 'string' },
  segments: { type: 'string' },
  'read-units': { type: 'string' },
  'dry-run': { type: 'boolean' },
  stage: { type: 'string' },
  help: { type: 'boolean', short: 'h' },
} as const;

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
  readonly input: () => string;
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
  if (values.help) return terminal.print(usage);
  const ids = idsOf(values, terminal);
  const clientId =
    values.client === undefined ? undefined : wholeNumber(values.client, '--client', Number.MAX_SAFE_INTEGER);
  const pace = {
    segments: wholeNumber(values.segments ?? '8', '--segments', 64),
    unitsPerSecond: wholeNumber(values['read-units'] ?? '1000', '--read-units', 100_000),
  };
  const dryRun = values['dry-run'] === true;
  const opened = await open(values.stage);
  const nameOf = await namesOf(opened);
  const by = await opened.by();
  const erase = () => erasePerson({ ids, clientId }, portsOf(opened, { dryRun, pace, nameOf }, terminal));
  // The audit has the number of ids only, because no line of it names a person.
  const on = { ...omitUndefined({ clientId }), count: ids.size };
  const erased = dryRun ? await erase() : await opened.audit('command.erase', on, erase);
  const facts = { erased, dryRun, clientId, atMs: terminal.nowMs() };
  for (const line of erasedAsLines(facts)) terminal.print(line);
  terminal.print(erasureLogged(facts, { by, stage: values.stage, names: [...ids].map(nameOf) }));
  refuseLeftovers(erased, dryRun);
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
    eraseInJob: jobEraser({ client, table: tables.messages, rewriter: writer, nowMs }),
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
  if (key === undefined) throw new CommandError('There is no key of people yet: `npm run provision` creates it.', 1);
  return personNames(key);
}

function refuseLeftovers({ clean, underWay, unknownKinds }: Erased, dryRun: boolean): void {
  if (unknownKinds.length > 0) {
    throw new CommandError(`Items of kinds that this command does not know: ${unknownKinds.join(', ')}`, 1);
  }
  if (dryRun || (clean && underWay === 0)) return;
  throw new CommandError('Something was still being written: run this again in some minutes.', 1);
}

if (import.meta.main) {
  await runCommand(() =>
    eraseCommand(
      process.argv.slice(2),
      async (stage) => {
        const target = await targetOf(stage);
        return { target, stage, by: () => operatorOf(stage), audit: auditOf(target, stage) };
      },
      { print: console.log, input: () => readFileSync(0, 'utf8'), nowMs: Date.now },
    ),
  );
}

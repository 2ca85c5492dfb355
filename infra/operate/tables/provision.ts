import { readFileSync } from 'node:fs';
import { repeatedKeys } from '../../../lib/http/repeated-keys.ts';
import { lineText } from '../../../lib/provisioning/plan-lines.ts';
import { ProvisioningFaults } from '../../../lib/provisioning/provisioning-file.ts';
import { ProvisioningTakenOver, ProvisioningUnderWay } from '../../../lib/provisioning/provisioning-store.ts';
import { subscriptionLines } from '../../../lib/provisioning/subscription-lines.ts';
import {
  type Command,
  CommandError,
  type CommandWords,
  callersPath,
  commandLine,
  helpOption,
  jsonOption,
  stageOption,
  WouldChange,
  yesOption,
} from '../command.ts';
import { helpOf } from '../help.ts';
import { auditOf, type OperatorAudit } from '../operator-audit.ts';
import { progressOn } from '../progress.ts';
import { inSnakeCase } from '../snake-case.ts';
import { platformOf, type Target, targetOf } from '../target.ts';
import {
  type ProvisioningOptions,
  type ProvisioningReport,
  provision,
  RemovalsRefused,
  removalsIn,
} from './provisioning-run.ts';
import { provisioningSchema } from './provisioning-schema.ts';

const options = {
  'dry-run': {
    type: 'boolean',
    default: false,
    about: 'prints what would change and writes nothing; ends with 3 when something would change, else with 0',
  },
  'allow-removals': {
    type: 'string',
    value: 'N',
    about: 'with --yes: lets up to N entries be removed that are no longer in the file',
  },
  yes: { ...yesOption, about: 'really remove; a run that removes nothing needs no --yes' },
  part: {
    type: 'boolean',
    default: false,
    about:
      'FILE has some entries alone, one client or one user: each takes the place of the stored one as a whole, or is added; all others stay as they are, and nothing is removed',
  },
  json: { ...jsonOption, about: 'what changes, or why nothing was written, as one JSON document' },
  schema: { type: 'boolean', default: false, about: 'prints the JSON Schema of the file' },
  stage: stageOption,
  help: helpOption,
} as const;

const words: CommandWords = {
  lines: [
    'provision FILE [--dry-run]',
    'provision FILE --allow-removals N --yes',
    'provision FILE --part [--dry-run]',
    'provision --schema',
  ],
  about: `Makes the clients, users, WABAs, channels, campaigns and platform credentials what a JSON file says. The file
describes everything there is and is judged as a whole before anything is written; running it again changes nothing. A
FILE of - is the standard input. A run that would remove an entry ends with 1, and says what it would do; a dry run
shows it, and how many removals are to be allowed.

At last each WABA is subscribed to its app at the platform (PLATFORM_BASE_URL and PLATFORM_VERSION name another one than
the real one).`,
  options,
};

/**
 * Provisions from a JSON file, between two audit lines when there is an `audit`. Throws `CommandError` with one text
 * for all faults that the user can mend.
 */
export async function provisionFile(
  path: string,
  target: Target,
  { audit, ...options }: ProvisioningOptions & { readonly audit?: OperatorAudit } = {},
): Promise<ProvisioningReport> {
  // Some editors write a byte order mark.
  const text = readText(path).replace(/^\uFEFF/, '');
  const data = dataOf(path, text);
  try {
    const run = () => provision(data, target, { ...options, textFaults: repeatedKeys(text) });
    if (audit === undefined || options.dryRun) return await run();
    return await audit('command.provision', { how: options.part ? 'part' : 'whole' }, run);
  } catch (error) {
    throw explained(path, error);
  }
}

function readText(path: string): string {
  try {
    return readFileSync(path === '-' ? process.stdin.fd : path, 'utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new CommandError(code === 'ENOENT' ? `There is no file ${path}.` : `${path} cannot be read (${code}).`);
  }
}

function dataOf(path: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new CommandError(`Nothing was written: ${path} is not JSON${placeOf(error as SyntaxError)}.`);
  }
}

function explained(path: string, error: unknown): unknown {
  if (error instanceof ProvisioningFaults) {
    const { length } = error.faults;
    const faults = length === 1 ? '1 fault' : `${length} faults`;
    return new CommandError(`Nothing was written: ${path} has ${faults}.\n${error.message}`, 1, { cause: error });
  }
  if (error instanceof RemovalsRefused) {
    const lines = error.report.lines.map(lineText).join('\n');
    return new CommandError(
      `${lines}\nNothing was written: ${error.message}. If that is meant, repeat with --allow-removals ${error.removals} --yes`,
      1,
      { cause: error },
    );
  }
  if (error instanceof ProvisioningUnderWay) {
    const free = new Date(error.freeAtMs).toISOString();
    return new CommandError(
      `Nothing was written: ${error.message}. Should it have died, the way is free at ${free}.`,
      1,
      { cause: error },
    );
  }
  if (error instanceof ProvisioningTakenOver) {
    return new CommandError('This run paused for so long that another one took over. Run it again.', 1);
  }
  return error;
}

/** Returns where the parser stopped, if it tells. Its own words could quote a secret. */
function placeOf({ message }: SyntaxError): string {
  const place = /\(line (\d+) column (\d+)\)/.exec(message);
  if (place !== null) return ` at line ${place[1]}, column ${place[2]}`;
  return message.startsWith('Unexpected end') ? ': it ends too early' : '';
}

export function describeReport({ lines, counts, ...report }: ProvisioningReport, dryRun = false): string {
  const { clients, wabas, channels, campaigns, users } = counts;
  const done = dryRun ? 'would be' : 'are';
  const created = dryRun ? 'would be created' : 'created';
  const keysText = (areNew: boolean) => (areNew ? created : 'already there');
  return [
    ...lines.map(lineText),
    ...(lines.length === 0 ? ['no entry changes'] : []),
    `${clients} clients, ${wabas} WABAs, ${channels} channels, ${campaigns} campaigns, ${users} users ${done} provisioned`,
    `passwords that are new or changed: ${report.passwordsHashed}`,
    `token keys: ${keysText(report.tokenKeysCreated)}; sealing keys: ${keysText(report.sealingKeysCreated)}; key of people: ${keysText(report.personKeyCreated)}`,
    ...report.clientsToSynchronize.map((id) => `run a synchronization for client ${id}: it got a WABA`),
    ...subscriptionLines(report.subscriptions),
  ].join('\n');
}

/** Tells whether a dry run's report says that the run would write anything, here or at the platform. */
function wouldChange({ lines, subscriptions, ...report }: ProvisioningReport): boolean {
  const newKeys = report.tokenKeysCreated || report.sealingKeysCreated || report.personKeyCreated;
  return lines.length > 0 || newKeys || subscriptions.some(({ state }) => state === 'missing');
}

/** Programs read this. */
export function reportAsJson({ lines, counts, subscriptions, ...report }: ProvisioningReport, dryRun: boolean) {
  return {
    ...{ dry_run: dryRun, removals: removalsIn({ lines, counts, subscriptions, ...report }), counts },
    changes: lines.map(({ change, kind, name, fields }) => ({ change, kind, entry: name, fields })),
    passwords: report.passwordsHashed,
    keys: {
      token: report.tokenKeysCreated,
      sealing: report.sealingKeysCreated,
      person: report.personKeyCreated,
    },
    clients_to_synchronize: report.clientsToSynchronize,
    subscriptions: subscriptions.map(inSnakeCase<string>),
  };
}

/** Programs read this where nothing was written. */
export function refusalAsJson({ message, cause }: Error, dryRun: boolean) {
  if (cause instanceof RemovalsRefused) return { refused: cause.message, ...reportAsJson(cause.report, dryRun) };
  const faults = cause instanceof ProvisioningFaults ? cause.faults : undefined;
  return { refused: cause instanceof Error ? cause.message : message, dry_run: dryRun, faults };
}

/** Ends a dry run. Throws `WouldChange`. */
function endDryRun(report: ProvisioningReport): void {
  if (!wouldChange(report)) return;
  const removals = removalsIn(report);
  const allowing = removals === 0 ? '' : `; a run needs --allow-removals ${removals} --yes`;
  throw new WouldChange(`dry run: nothing was written${allowing}`);
}

function removalsOf(text: string | undefined): number {
  if (text !== undefined && !/^\d{1,9}$/.test(text)) throw new CommandError('--allow-removals takes a number.');
  return Number(text ?? 0);
}

export const command: Command = {
  words,
  run: async (typed) => {
    const { values, positionals } = commandLine({ args: [...typed], allowPositionals: true, options });
    const [path] = positionals;
    if (values.schema) return void process.stdout.write(provisioningSchema());
    if (path === undefined || positionals.length > 1) throw new CommandError(helpOf(words));
    const { part, yes, json, 'dry-run': dryRun } = values;
    const allowed = removalsOf(values['allow-removals']);
    if (part && allowed > 0)
      throw new CommandError('--part removes nothing: to remove entries, provision the whole file.');
    const target = await targetOf(values.stage);
    const audit = auditOf(target, values.stage);
    const removalsAllowed = yes ? allowed : 0;
    const run = { dryRun, removalsAllowed, part, platform: platformOf(values.stage), audit };
    const report = await progressOn(process.stderr)(
      () => 'the file is compared with what is stored, and written',
      () => provisionFile(path === '-' ? path : callersPath(path), target, run),
    ).catch((error: unknown) => {
      if (json && error instanceof CommandError) console.log(JSON.stringify(refusalAsJson(error, dryRun), null, 2));
      throw error;
    });
    console.log(json ? JSON.stringify(reportAsJson(report, dryRun), null, 2) : describeReport(report, dryRun));
    if (dryRun) endDryRun(report);
  },
};

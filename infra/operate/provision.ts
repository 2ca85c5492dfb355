import { readFileSync } from 'node:fs';
import { repeatedKeys } from '../../lib/http/repeated-keys.ts';
import { lineText } from '../../lib/provisioning/plan-lines.ts';
import { ProvisioningFaults } from '../../lib/provisioning/provisioning-file.ts';
import { ProvisioningTakenOver, ProvisioningUnderWay } from '../../lib/provisioning/provisioning-store.ts';
import { subscriptionLines } from '../../lib/provisioning/subscription-lines.ts';
import { CommandError, callersPath, commandLine, runCommand } from './command.ts';
import { auditOf, type OperatorAudit } from './operator-audit.ts';
import { type ProvisioningOptions, type ProvisioningReport, provision, RemovalsRefused } from './provisioning-run.ts';
import { provisioningSchema } from './provisioning-schema.ts';
import { platformOf, type Target, targetOf } from './target.ts';

const usage = `usage: npm run provision -- FILE [--dry-run] [--allow-removals N] [--stage NAME]
       npm run provision -- FILE --part [--dry-run] [--stage NAME]
       npm run --silent provision -- --schema

Makes the clients, users, WABAs, channels, campaigns and platform credentials of the service what a JSON file says: of the
deployed stage NAME, or without --stage of the local stack that is running. The file describes everything there is and is
judged as a whole before anything is written; running it again changes nothing. At last each WABA is subscribed to its app at
the platform (PLATFORM_BASE_URL and PLATFORM_VERSION name another one than the real one).

--dry-run            prints what would change and writes nothing; ends with status 3 when something would change and with 0
                     when nothing would; 1 and 2 are refusals, as of a run
--allow-removals N   lets up to N entries be removed that are no longer in the file; without it a run that would
                     remove any is refused with status 1
--part               FILE has some entries alone, one client or one user: each takes the place of the stored one as a whole, or is
                     added; all others stay as they are, and nothing is removed. A FILE of - is the standard input
--schema             prints the JSON Schema of the file`;

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
    return new CommandError(`Nothing was written: ${path} has ${faults}.\n${error.message}`, 1);
  }
  if (error instanceof RemovalsRefused) {
    const lines = error.report.lines.map(lineText).join('\n');
    return new CommandError(
      `${lines}\nNothing was written: ${error.message}. If that is meant, repeat with --allow-removals ${error.removals}`,
      1,
    );
  }
  if (error instanceof ProvisioningUnderWay) {
    const free = new Date(error.freeAtMs).toISOString();
    return new CommandError(
      `Nothing was written: ${error.message}. Should it have died, the way is free at ${free}.`,
      1,
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
    ...(dryRun ? ['dry run: nothing was written'] : []),
  ].join('\n');
}

/** Tells whether a dry run's report says that the run would write anything, here or at the platform. */
function wouldChange({ lines, subscriptions, ...report }: ProvisioningReport): boolean {
  const newKeys = report.tokenKeysCreated || report.sealingKeysCreated || report.personKeyCreated;
  return lines.length > 0 || newKeys || subscriptions.some(({ state }) => state === 'missing');
}

/** A dry run that finds a difference ends with it; 1 and 2 say that it could not judge. */
const differsStatus = 3;

function removalsOf(text: string | undefined): number {
  if (text !== undefined && !/^\d{1,9}$/.test(text)) throw new CommandError('--allow-removals takes a number.');
  return Number(text ?? 0);
}

if (import.meta.main) {
  await runCommand(async () => {
    const { values, positionals } = commandLine({
      allowPositionals: true,
      options: {
        stage: { type: 'string' },
        'dry-run': { type: 'boolean', default: false },
        'allow-removals': { type: 'string' },
        part: { type: 'boolean', default: false },
        schema: { type: 'boolean' },
        help: { type: 'boolean', short: 'h' },
      },
    });
    const [path] = positionals;
    if (values.help) return console.log(usage);
    if (values.schema) return void process.stdout.write(provisioningSchema());
    if (path === undefined || positionals.length > 1) throw new CommandError(usage);
    const dryRun = values['dry-run'];
    const { part } = values;
    const removalsAllowed = removalsOf(values['allow-removals']);
    if (part && removalsAllowed > 0)
      throw new CommandError('--part removes nothing: to remove entries, provision the whole file.');
    const target = await targetOf(values.stage);
    const audit = auditOf(target, values.stage);
    const options = { dryRun, removalsAllowed, part, platform: platformOf(values.stage), audit };
    const report = await provisionFile(path === '-' ? path : callersPath(path), target, options);
    console.log(describeReport(report, dryRun));
    if (dryRun && wouldChange(report)) process.exitCode = differsStatus;
  });
}

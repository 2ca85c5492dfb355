import { randomUUID } from 'node:crypto';
import type { Fault } from '../../../lib/http/refusal.ts';
import type { PlatformCredentials } from '../../../lib/platform/credential-groups.ts';
import type { PlatformTransport } from '../../../lib/platform/transport.ts';
import type { PlatformApps } from '../../../lib/platform/webhook/apps.ts';
import { desiredPlatformApps } from '../../../lib/provisioning/desired-apps.ts';
import type { PlanLine } from '../../../lib/provisioning/plan-lines.ts';
import { desiredPlatformCredentials } from '../../../lib/provisioning/platform-credentials.ts';
import { type Subscription, subscribeWabas } from '../../../lib/provisioning/platform-subscriptions.ts';
import { provisionedChannels, provisionedItems } from '../../../lib/provisioning/provisioned-items.ts';
import { type ProvisioningFile, provisioningFile } from '../../../lib/provisioning/provisioning-file.ts';
import { type ProvisioningPlan, provisioningPlan } from '../../../lib/provisioning/provisioning-plan.ts';
import {
  type ProvisioningRun,
  type ProvisioningStore,
  provisioningStore,
} from '../../../lib/provisioning/provisioning-store.ts';
import { isInPart, storedFile, withPart } from '../../../lib/provisioning/stored-file.ts';
import { CommandError } from '../command.ts';
import { UnreadableSecret } from '../parsed-secret.ts';
import { plannedPersonKey } from '../person-key.ts';
import { plannedSealingKeys } from '../sealing-keys.ts';
import { readApps } from '../stored-apps.ts';
import { assertRoom, readCredentials, writeCredentials } from '../stored-credentials.ts';
import type { Target } from '../target.ts';
import { type PlannedKeys, plannedTokenKeys } from '../token-keys.ts';
import { wantedCredentials } from './wanted-credentials.ts';

export interface ProvisioningOptions {
  /** Reports what would be written and writes nothing. */
  readonly dryRun?: boolean;
  /** A run removes at most this many entries, none by default; a dry run reports any number. */
  readonly removalsAllowed?: number;
  readonly nowMs?: () => number;
  /** The data are only some entries: each replaces the stored one or is added; all others stay. */
  readonly part?: boolean;
  /** The platform subscribes WABAs to apps; without it there is no check. */
  readonly platform?: PlatformTransport;
  /** The parsed data no longer show these faults of the file's text. */
  readonly textFaults?: readonly Fault[];
}

/** The report, also of a dry run, never contains a secret. */
export interface ProvisioningReport {
  readonly lines: readonly PlanLine[];
  readonly counts: Readonly<Record<'clients' | 'wabas' | 'channels' | 'campaigns' | 'users', number>>;
  readonly passwordsHashed: number;
  readonly tokenKeysCreated: boolean;
  readonly sealingKeysCreated: boolean;
  readonly personKeyCreated: boolean;
  readonly clientsToSynchronize: readonly number[];
  /** Each says whether the platform informs an app about a WABA of the file. */
  readonly subscriptions: readonly Subscription[];
}

/** Returns how many entries a run removes; it wants as many to be allowed. */
export function removalsIn({ lines }: ProvisioningReport): number {
  return lines.filter(({ change }) => change === 'removed').length;
}

/** The file lacks more stored entries than may be removed; it is thrown before any write. */
export class RemovalsRefused extends Error {
  readonly report: ProvisioningReport;
  readonly removals: number;

  constructor(report: ProvisioningReport, removals: number) {
    super(`${removals === 1 ? '1 entry' : `${removals} entries`} would be removed`);
    this.name = 'RemovalsRefused';
    this.report = report;
    this.removals = removals;
  }
}

/**
 * Makes the service equal the data (D36). Throws `RemovalsRefused`, and also in a dry run `ProvisioningFaults` and
 * `ProvisioningUnderWay`, before any write. A partial run grants nothing beyond the states before and after, and the next
 * run completes it.
 */
export async function provision(
  data: unknown,
  target: Target,
  {
    dryRun = false,
    removalsAllowed = 0,
    nowMs = Date.now,
    textFaults = [],
    part = false,
    platform,
  }: ProvisioningOptions = {},
): Promise<ProvisioningReport> {
  const { documentClient, tableName } = target;
  const store = provisioningStore({ documentClient, tableName, nowMs });
  const judging = () => judge(data, target, { textFaults, store, part });
  const judgedFirst = await judging();
  const allowed = (prepared: Prepared): Prepared => {
    const removals = removalsIn(prepared.report);
    if (removals > removalsAllowed) throw new RemovalsRefused(prepared.report, removals);
    return prepared;
  };
  if (dryRun) {
    await store.assertFree();
    const prepared = await prepare(judgedFirst, { target, store, nowMs: nowMs() });
    return await withSubscriptions(prepared, judgedFirst.touched, { platform, dryRun });
  }
  const run = await store.begin(randomUUID());
  let done: Prepared;
  try {
    // The file is judged again: another run may have changed credentials before this one got the lock.
    const judged = await judging();
    done = allowed(await prepare(judged, { target, store, nowMs: nowMs() }));
    await carryOut(done, run, target);
  } finally {
    await run.end();
  }
  // Subscriptions come last: the receiver knows the apps by then, and a slow platform delays nothing else.
  return await withSubscriptions(done, judgedFirst.touched, { platform, dryRun });
}

async function withSubscriptions(
  { report, credentials }: Prepared,
  file: ProvisioningFile,
  { platform: call, dryRun }: { readonly platform: PlatformTransport | undefined; readonly dryRun: boolean },
): Promise<ProvisioningReport> {
  if (call === undefined) return report;
  return { ...report, subscriptions: await subscribeWabas(file, { call, credentials, dryRun }) };
}

interface Prepared {
  readonly plan: ProvisioningPlan;
  readonly tokenKeys: PlannedKeys;
  readonly sealingKeys: PlannedKeys;
  readonly personKey: PlannedKeys;
  readonly report: ProvisioningReport;
  readonly credentials: PlatformCredentials;
  readonly grouped: boolean;
}

async function prepare(
  { file, stored, grouped, kept }: Judged,
  { target, store, nowMs }: { readonly target: Target; readonly store: ProvisioningStore; readonly nowMs: number },
): Promise<Prepared> {
  const items = await store.read(file.users.map(({ username }) => username));
  const { credentials, passwordsHashed } = await wantedCredentials(file, { stored: items, kept });
  const wanted = {
    items: [...provisionedItems(file), ...provisionedChannels(file, new Date(nowMs).toISOString()), ...credentials],
    platformCredentials: desiredPlatformCredentials(stored.platformCredentials, file),
    platformApps: desiredPlatformApps(file),
  };
  assertRoom(wanted.platformCredentials, grouped);
  const plan = provisioningPlan({ items, ...stored }, wanted);
  const nowSeconds = Math.floor(nowMs / 1000);
  const tokenKeys = await plannedTokenKeys(target, nowSeconds);
  const sealingKeys = await plannedSealingKeys(target, nowSeconds);
  const { clients, wabas, channels, campaigns, users } = file;
  const personKey = await plannedPersonKey(target, [
    ...clients.map(({ client_id: clientId }) => ({ kind: 'client', clientId }) as const),
    ...wabas.map(({ waba_id: wabaId }) => ({ kind: 'waba', wabaId }) as const),
  ]);
  const counts = {
    clients: clients.length,
    wabas: wabas.length,
    channels: channels.length,
    campaigns: campaigns.length,
    users: users.length,
  };
  const { lines, clientsToSynchronize } = plan;
  const keysCreated = {
    tokenKeysCreated: tokenKeys.missing,
    sealingKeysCreated: sealingKeys.missing,
    personKeyCreated: personKey.missing,
  };
  const report = { lines, counts, passwordsHashed, ...keysCreated, clientsToSynchronize, subscriptions: [] };
  return { plan, tokenKeys, sealingKeys, personKey, report, credentials: wanted.platformCredentials, grouped };
}

/** Secrets have no conditional writes, so the lock is renewed right before each one. */
async function carryOut(
  { plan, tokenKeys, sealingKeys, personKey, grouped }: Prepared,
  run: ProvisioningRun,
  target: Target,
): Promise<void> {
  await run.write(plan.revocations);
  if (plan.platformCredentials !== undefined) {
    await writeCredentials(target, plan.platformCredentials, { grouped, renew: () => run.renew() });
  }
  if (plan.platformApps !== undefined) {
    await run.renew();
    await target.secrets.write(target.secretName('PLATFORM_APPS_SECRET'), JSON.stringify(plan.platformApps));
  }
  for (const keys of [tokenKeys, sealingKeys, personKey]) {
    if (!keys.missing) continue;
    await run.renew();
    await keys.write();
  }
  await run.write(plan.grants);
}

interface Judged {
  readonly file: ProvisioningFile;
  /** The content is empty before the first run. */
  readonly stored: { readonly platformCredentials: PlatformCredentials; readonly platformApps: PlatformApps };
  /** The platform is asked about the WABAs of the operator's entries. */
  readonly touched: ProvisioningFile;
  /** Users without an entry in a part keep their passwords. */
  readonly kept: ReadonlySet<string>;
  readonly grouped: boolean;
}

/** Judges the file as a whole, or a part together with what is stored. */
async function judge(
  data: unknown,
  target: Target,
  {
    textFaults,
    store,
    part,
  }: { readonly textFaults: readonly Fault[]; readonly store: ProvisioningStore; readonly part: boolean },
): Promise<Judged> {
  const [{ credentials: platformCredentials, grouped }, platformApps] = await stored(target);
  const secrets = { platformCredentials, platformApps };
  const names = Object.keys(platformCredentials);
  if (!part) {
    const file = provisioningFile(data, names, textFaults);
    return { file, touched: file, kept: new Set(), stored: secrets, grouped };
  }
  const described = storedFile({ items: await store.read([]), ...secrets });
  const file = provisioningFile(withPart(described, data), names, textFaults);
  const touched = { ...file, wabas: file.wabas.filter(({ waba_id }) => isInPart(data, 'wabas', waba_id)) };
  const users = file.users.filter(({ username }) => !isInPart(data, 'users', username));
  return { file, touched, kept: new Set(users.map(({ username }) => username)), stored: secrets, grouped };
}

async function stored(target: Target) {
  try {
    return await Promise.all([readCredentials(target), readApps(target)]);
  } catch (error) {
    if (error instanceof UnreadableSecret) throw new CommandError(`Nothing was written: ${error.message}`, 1);
    throw error;
  }
}

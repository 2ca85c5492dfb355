import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import demo from '../../../infra/local/demo/provisioning.json' with { type: 'json' };
import { credentialCommand } from '../../../infra/operate/keys/credential.ts';
import { accountConcurrency, quotasOf, reservedNow } from '../../../infra/operate/stage/account-limits.ts';
import { commandRights } from '../../../infra/operate/stage/policy-document.ts';
import type { SignedRead } from '../../../infra/operate/stage/signed-read.ts';
import { provision } from '../../../infra/operate/tables/provisioning-run.ts';
import { type CommandCalls, commandCalls } from '../../support/command-calls.ts';
import { operatorAuditInMemory } from '../../support/operator-audit.ts';
import { provisioningTarget } from '../../support/provisioning-target.ts';
import { recordedTables } from '../../support/recorded-tables.ts';

/* IAM lets an operator's command do what its code can call, and nothing more. */

/** A right has the first word of a command; of `check` it is for the look at the stage. */
const loaded = /name: '([\w-]+)[^']*',(?:(?!name: )[\s\S])*?import\('\.\/([\w/-]+)\.ts'\)/g;
const files = new Map(
  [...readFileSync('infra/operate/ops.ts', 'utf8').matchAll(loaded)].map(
    ([, name = '', file = '']) => [name, name === 'check' ? 'stage/doctor' : file] as const,
  ),
);

/** AWS checks a right of another name for these calls; none for the caller's identity. */
const rightOfCall: Readonly<Record<string, string | undefined>> = {
  GetCallerIdentityCommand: undefined,
  GetQueueUrlCommand: 'sqs:GetQueueUrl',
  GetQueueAttributesCommand: 'sqs:GetQueueAttributes',
  ReceiveMessageCommand: 'sqs:ReceiveMessage',
  SendMessageCommand: 'sqs:SendMessage',
  SendMessageBatchCommand: 'sqs:SendMessage',
  DeleteMessageBatchCommand: 'sqs:DeleteMessage',
  ChangeMessageVisibilityBatchCommand: 'sqs:ChangeMessageVisibility',
  DescribeStacksCommand: 'cloudformation:DescribeStacks',
  paginateListStackResources: 'cloudformation:ListStackResources',
  DescribeAlarmsCommand: 'cloudwatch:DescribeAlarms',
  GetDistributionCommand: 'cloudfront:GetDistribution',
  paginateListSubscriptionsByTopic: 'sns:ListSubscriptionsByTopic',
};

type Verbs = Readonly<Record<string, readonly string[]>>;
const sorted = (verbs: Iterable<readonly [string, Iterable<string>]>): Verbs =>
  Object.fromEntries([...verbs].map(([name, some]) => [name, [...some].sort()]));

let calls: ReadonlyMap<string, CommandCalls>;
const callsIn = (file: string) => calls.get(basename(file)) as CommandCalls;
/** The two commands were seen to ask this, by the store of provisioning and otherwise with its client. */
const seen = new Map<string, Verbs>();

beforeAll(async () => {
  calls = await commandCalls([...files.values()].map((file) => `${file}.ts`));
  seen.set('provision', await seenOfProvision());
  seen.set('credential', await seenOfCredential());
});

const tables = ['directory', 'credentials', 'channels', 'messages'] as const;

/** Provisions for the first time, dry, and with changed and removed entries of every kind. */
async function seenOfProvision(): Promise<Verbs> {
  const { target } = await provisioningTarget();
  const recorded = recordedTables(target, tables);
  await provision(demo, target);
  await provision(demo, target, { dryRun: true });
  const [first] = demo.clients;
  const users = demo.users.filter(({ client_id: clientId }) => clientId === first?.client_id);
  const less = { ...demo, clients: [first], users, wabas: [], channels: [], campaigns: [], platform_apps: [] };
  await provision(less, target, { removalsAllowed: 100 });
  return sorted(recorded);
}

async function seenOfCredential(): Promise<Verbs> {
  const { target } = await provisioningTarget();
  await provision(demo, target);
  const recorded = recordedTables(target, tables);
  const { audit } = operatorAuditInMemory();
  await credentialCommand(
    [demo.wabas[0]?.waba_id ?? '', '--token', '-', '--unchecked', '--yes'],
    () => ({ target, audit, platform: async () => ({ body: {} }) }),
    { print: () => undefined, readInput: async () => 'another-token', nowMs: Date.now },
  );
  return sorted(recorded);
}

/** `doctor` signs these requests itself. */
async function signedRights(): Promise<string[]> {
  const found = new Set<string>();
  const read = async ({ service, path, json }: SignedRead) => {
    const [, operation = ''] = json?.target.split('.') ?? [];
    found.add(
      `${service}:${operation || (path.endsWith('/concurrency') ? 'GetFunctionConcurrency' : 'GetAccountSettings')}`,
    );
    return { AccountLimit: { ConcurrentExecutions: 1, UnreservedConcurrentExecutions: 1 }, Quotas: [] };
  };
  await Promise.all([accountConcurrency(read), reservedNow(read, ['login']), quotasOf(read, 'sqs')]);
  return [...found];
}

describe('rights of operator commands', () => {
  it('are said for every command that asks AWS for anything, and for no other', () => {
    const asking = [...files].filter(([, file]) => {
      const { tables: asked, services } = callsIn(file);
      return asked.size > 0 || [...services].some((call) => rightOfCall[call] !== undefined);
    });
    expect(asking.map(([name]) => name).sort()).toEqual(Object.keys(commandRights).sort());
    expect([...files.keys()].filter((name) => !(name in commandRights)).sort()).toEqual(['explain']);
  });

  it.each(Object.keys(commandRights))('%s: tables, each with the verbs that it calls', (name) => {
    const { tables: read } = callsIn(files.get(name) ?? '');
    const together = new Map([...read].map(([table, verbs]) => [table, new Set(verbs)]));
    for (const [table, verbs] of Object.entries(seen.get(name) ?? {})) {
      together.set(table, new Set([...(together.get(table) ?? []), ...verbs]));
    }
    expect(sorted(Object.entries(commandRights[name]?.tables ?? {}))).toEqual(sorted(together));
  });

  it.each(Object.keys(commandRights))('%s: secrets, queues and what else', async (name) => {
    const { secrets, ofSecrets, queues, deadLetters, services } = callsIn(files.get(name) ?? '');
    const may = commandRights[name] ?? {};
    expect(Object.keys(may.secrets ?? {}).sort()).toEqual([...secrets].sort());
    expect(new Set(Object.values(may.secrets ?? {}).flat())).toEqual(ofSecrets);
    expect(Object.keys(may.queues ?? {})).toEqual([...queues]);
    expect(Object.keys(may.deadLetters ?? {})).toEqual([...deadLetters]);
    const unknown = [...services].filter((call) => !(call in rightOfCall));
    expect(unknown).toEqual([]);
    const called = [...services].flatMap((call) => rightOfCall[call] ?? []);
    const ofQueues = [may.queues, may.deadLetters].flatMap((each) => Object.values(each ?? {}).flat());
    expect(
      [
        ...new Set([...ofQueues.map((verb) => `sqs:${verb}`), ...(may.others ?? []).flatMap(({ actions }) => actions)]),
      ].sort(),
    ).toEqual([...new Set([...called, ...(name === 'check' ? await signedRights() : [])])].sort());
  });
});

import type { PlatformTransport } from '../../lib/platform/transport.ts';
import { sealingKeySet } from '../../lib/webhooks/config/sealing.ts';
import { callersAccount } from './account.ts';
import { accountConcurrency, quotasOf, reservedNow } from './account-limits.ts';
import { failureSentence } from './aws-failure.ts';
import { CommandError, callersPath, commandLine, runCommand } from './command.ts';
import { alarmsOf, distributionOf, topicsOf } from './doctor-aws.ts';
import { edgeFindings, requestOrigin } from './doctor-edge.ts';
import { appsOf, factsOf, wabasOf } from './doctor-platform.ts';
import { concurrencyFinding, gatewayFindings, queueFinding } from './doctor-quotas.ts';
import {
  alarmFindings,
  appFindings,
  clockFinding,
  keyFindings,
  platformFindings,
  stackFinding,
} from './doctor-rules.ts';
import { factsReview, reviewFinding } from './facts-review.ts';
import { closingCount, type Finding, findingLines } from './findings.ts';
import { runningLocalStack } from './local-stacks.ts';
import { readPersonKey } from './person-key.ts';
import { signedReader } from './signed-read.ts';
import { conditionOf, statusesOf, statusOf } from './stack-status.ts';
import { awsTarget, localPlatform, localTarget, platformOf, requireStage, type Target } from './target.ts';
import { readKeySets } from './token-keys.ts';

const usage = `usage: npm run doctor [-- --stage NAME]
       npm run doctor -- --stack FILE    the local stack that FILE describes, as npm start describes its own
       npm run doctor -- --quotas --stage NAME [-c NAME=VALUE ...]    whether the account has what the stacks will need
       npm run doctor -- --platform [--waba ID] [--stage NAME]    whether the platform is as lib/platform/FACTS.md says

Looks whether the deployed stage NAME, or without --stage the local stack that is running, has what it needs: credentials
and region, stacks, the API, the clock, an edge, keys, alarms and who hears them, what the platform says to each credential,
webhook subscription and app. One line each, ✗ with what to do. It changes nothing. Exit status 1 when a line has ✗.

--quotas looks at Lambda's concurrency and at the quotas of the gateway and the queues alone, before the first deployment:
give it the context values (-c) that you will deploy with. With --stage these lines are among all others.

--platform makes a dozen reads of one WABA, the first one by default, and compares them with the facts (FIRST-DAY.md there).`;

/** The local stack has no `stage`. */
interface Patient {
  readonly target: Target;
  readonly platform: PlatformTransport;
  readonly stage: string | undefined;
  readonly localApiUrl?: string;
}

interface Asked {
  readonly stage?: string | undefined;
  readonly stackFile?: string | undefined;
  /** Each context value of the deployment is a `name=value`. */
  readonly context: readonly string[];
  /** Checks only the account's quotas. */
  readonly quotasAlone: boolean;
  /** Checks only the facts about the platform, with one WABA. */
  readonly facts?: { readonly wabaId?: string | undefined } | undefined;
}

/** Prints a line for each finding. Throws when one is bad. */
async function examine({ stage, stackFile, facts, context, quotasAlone }: Asked): Promise<void> {
  const findings: Finding[] = [];
  const tell = (found: readonly Finding[]) => {
    findings.push(...found);
    for (const finding of found) console.log(findingLines(finding));
  };
  const patient = await admitted(stage, stackFile, tell);
  if (patient !== undefined && facts !== undefined) {
    tell([reviewFinding(factsReview(), Date.now())]);
    await looked('platform', tell, async () => tell(await factsOf(patient, facts.wabaId)));
  } else if (patient !== undefined && quotasAlone) {
    await quotasOfAccount(stage, context, tell);
  } else if (patient !== undefined) {
    const apiUrl = await looked('stacks', tell, () => stacksOf(patient, tell));
    await quotasOfAccount(stage, context, tell);
    await looked('API', tell, async () => tell(await apiFindings(apiUrl)));
    await looked('edge', tell, () => edgeOf(patient, tell));
    await looked('keys', tell, async () => tell(await keysOf(patient.target)));
    await looked('alarms', tell, async () => tell(await alarmsOfStage(stage)));
    await looked('platform', tell, async () => tell(platformFindings(await wabasOf(patient))));
    await looked('webhook fields', tell, async () => tell(appFindings(await appsOf(patient))));
  }
  console.log(closingCount(findings));
  if (findings.some(({ state }) => state === 'bad')) throw new CommandError('Not all is well.', 1);
}

type Tell = (found: readonly Finding[]) => void;

/** Returns undefined, after telling the reason, when there is nothing to check. */
async function admitted(
  stage: string | undefined,
  stackFile: string | undefined,
  tell: Tell,
): Promise<Patient | undefined> {
  if (stage === undefined) {
    const stack = runningLocalStack(stackFile);
    tell([{ state: 'good', text: `the local stack at ${stack.apiUrl}` }]);
    return { target: localTarget(stack), platform: localPlatform(stack), stage, localApiUrl: stack.apiUrl };
  }
  return await looked('credentials and region', tell, async () => {
    const { account, region } = await callersAccount();
    tell([{ state: 'good', text: `credentials and region: stage ${stage}, account ${account}, region ${region}` }]);
    return { target: awsTarget(stage), platform: platformOf(stage), stage };
  });
}

/** A check that fails is a finding, so the others continue. */
async function looked<T>(what: string, tell: Tell, look: () => Promise<T>): Promise<T | undefined> {
  try {
    return await look();
  } catch (error) {
    const words = error instanceof Error ? error.message : String(error);
    tell([{ state: 'bad', text: `${what}: ${failureSentence(error) ?? words}` }]);
    return undefined;
  }
}

/** Tells the state of the stacks and returns the API's address. */
async function stacksOf({ stage, localApiUrl }: Patient, tell: Tell): Promise<string | undefined> {
  if (stage === undefined) {
    tell([{ state: 'skipped', text: 'stacks: on this machine the synthesized templates run without CloudFormation' }]);
    return localApiUrl;
  }
  const { stateful, stateless } = await statusesOf(stage);
  tell([stackFinding(stage, 'stateful', stateful), stackFinding(stage, 'stateless', stateless)]);
  return stateless?.apiUrl;
}

/** Each service is checked apart, because permissions may differ. */
async function quotasOfAccount(stage: string | undefined, context: readonly string[], tell: Tell): Promise<void> {
  if (stage === undefined) return;
  // The CDK, which reads context values, takes a second to load.
  const { deploymentNeeds } = await import('./deployment-needs.ts');
  const needs = deploymentNeeds(stage, context);
  const read = signedReader();
  await looked('Lambda concurrency', tell, async () => {
    const [has, ours] = await Promise.all([accountConcurrency(read), reservedNow(read, needs.reserving)]);
    tell([concurrencyFinding(has, { needs: needs.concurrency, ours, told: needs.statedConcurrency })]);
  });
  await looked('gateway quotas', tell, async () => tell(gatewayFindings(await quotasOf(read, 'apigateway'), needs)));
  await looked('queue quotas', tell, async () =>
    tell([queueFinding(await quotasOf(read, 'sqs'), needs.messagesAtWork)]),
  );
}

async function apiFindings(apiUrl: string | undefined): Promise<Finding[]> {
  if (apiUrl === undefined)
    return [{ state: 'bad', text: 'API: no stack tells its address (ApiUrl); deploy it first' }];
  const address = new URL('/health', apiUrl).href;
  const reply = await fetch(address, { signal: AbortSignal.timeout(30_000) });
  const answered = `API: ${address} answers ${reply.status}`;
  const health: Finding =
    reply.status === 200
      ? { state: 'good', text: answered }
      : { state: 'bad', text: `${answered}; look for errors of the function "health" and at the access log` };
  const theirsMs = Date.parse(reply.headers.get('date') ?? '');
  if (Number.isNaN(theirsMs)) return [health, { state: 'skipped', text: 'clock: the API tells no time' }];
  return [health, clockFinding(Date.now(), theirsMs)];
}

async function keysOf(target: Target): Promise<Finding[]> {
  const sealing = await target.secrets.read(target.secretName('WEBHOOK_SEALING_KEYS_SECRET'));
  const sealingKeys = sealing === undefined ? 0 : sealingKeySet(sealing).keys.length;
  return keyFindings(await readKeySets(target), {
    sealingKeys,
    hasPersonKey: (await readPersonKey(target)) !== undefined,
  });
}

async function alarmsOfStage(stage: string | undefined): Promise<Finding[]> {
  if (stage === undefined) return [{ state: 'skipped', text: 'alarms: there are none on this machine' }];
  const alarms = [...(await alarmsOf(stage, 'stateful')), ...(await alarmsOf(stage, 'stateless'))];
  return alarmFindings(stage, alarms, await topicsOf(alarms));
}

/** Checks the edge and its alarms; the local stack has none. */
async function edgeOf({ stage }: Patient, tell: Tell): Promise<void> {
  if (stage === undefined) return;
  const standing = await statusOf(stage, 'edge');
  if (conditionOf(standing?.status) === 'absent') {
    return tell([{ state: 'skipped', text: 'edge: the stage has none before its API' }]);
  }
  tell([stackFinding(stage, 'edge', standing)]);
  const distribution = await distributionOf(stage);
  tell(edgeFindings(stage, distribution, distribution && (await requestOrigin(distribution))));
  const alarms = await alarmsOf(stage, 'edge');
  tell(alarmFindings(stage, alarms, await topicsOf(alarms), 'edge'));
}

if (import.meta.main) {
  await runCommand(async () => {
    const { values } = commandLine({
      options: {
        stage: { type: 'string' },
        stack: { type: 'string' },
        platform: { type: 'boolean' },
        quotas: { type: 'boolean' },
        context: { type: 'string', short: 'c', multiple: true },
        waba: { type: 'string' },
        help: { type: 'boolean', short: 'h' },
      },
    });
    if (values.help) return console.log(usage);
    if (values.stage !== undefined) requireStage(values.stage);
    if (values.waba !== undefined && !values.platform) throw new CommandError('--waba goes with --platform');
    if (values.quotas && values.stage === undefined) throw new CommandError('--quotas goes with --stage');
    await examine({
      stage: values.stage,
      stackFile: values.stack === undefined ? undefined : callersPath(values.stack),
      context: values.context ?? [],
      quotasAlone: values.quotas ?? false,
      facts: values.platform ? { wabaId: values.waba } : undefined,
    });
  });
}

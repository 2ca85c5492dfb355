import type { PlatformTransport } from '../../../lib/platform/transport.ts';
import { sealingKeySet } from '../../../lib/webhooks/config/sealing.ts';
import { callersAccount } from '../account.ts';
import { failureSentence, isNotAllowed } from '../aws-failure.ts';
import { runningLocalStack } from '../local-stacks.ts';
import { readPersonKey } from '../person-key.ts';
import { awsTarget, localPlatform, localTarget, platformOf, type Target } from '../target.ts';
import { readKeySets } from '../token-keys.ts';
import { accountConcurrency, quotasOf, reservedNow } from './account-limits.ts';
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
import type { Finding } from './findings.ts';
import { signedReader } from './signed-read.ts';
import { conditionOf, statusesOf, statusOf } from './stack-status.ts';

/** The local stack has no `stage`. */
interface Patient {
  readonly target: Target;
  readonly platform: PlatformTransport;
  readonly stage: string | undefined;
  readonly localApiUrl?: string;
}

export interface Asked {
  readonly stage?: string | undefined;
  readonly stackFile?: string | undefined;
  /** Each context value of the deployment is a `name=value`. */
  readonly context: readonly string[];
  /** Checks only the account's quotas. */
  readonly quotasAlone: boolean;
  /** Checks only the facts about the platform, with one WABA. */
  readonly facts?: { readonly wabaId?: string | undefined } | undefined;
}

/** Looks at everything, whatever fails, and tells each finding when it is made. */
export async function examine({ stage, stackFile, facts, context, quotasAlone }: Asked, tell: Tell): Promise<void> {
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
}

export type Tell = (found: readonly Finding[]) => void;

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
    // The role that looks reads no secret, which is no fault of the stage.
    const isOfSecret = isNotAllowed(error) && words.includes('secretsmanager:');
    const state = isOfSecret ? 'skipped' : 'bad';
    tell([{ state, text: `${what}: ${failureSentence(error) ?? words}` }]);
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

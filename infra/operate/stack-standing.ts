import { CloudFormationClient, DescribeStacksCommand } from '@aws-sdk/client-cloudformation';
import { edgeRegion } from '../edge.ts';
import { resourceName } from '../names.ts';
import type { Settings } from '../settings.ts';
import { CommandError } from './command.ts';

/** How a stack stands, in the words of CloudFormation. */
export interface StackStanding {
  readonly status: string;
  readonly refusesDeletion: boolean;
}

/** The stacks of a stage; undefined for one that is not there, and no `edge` where the deployment has none. */
export interface Standings {
  readonly stateful: StackStanding | undefined;
  readonly stateless: StackStanding | undefined;
  readonly edge?: StackStanding | undefined;
}

/** A stack that the next deployment creates. */
const notMade = ['REVIEW_IN_PROGRESS', 'CREATE_FAILED', 'ROLLBACK_COMPLETE', 'DELETE_COMPLETE'];

/** A stack that was made whole once; the CDK waits until what it leaves behind is cleaned up. */
const made = [
  'CREATE_COMPLETE',
  'UPDATE_COMPLETE',
  'UPDATE_COMPLETE_CLEANUP_IN_PROGRESS',
  'UPDATE_FAILED',
  'UPDATE_ROLLBACK_COMPLETE',
  'UPDATE_ROLLBACK_COMPLETE_CLEANUP_IN_PROGRESS',
  'IMPORT_COMPLETE',
  'IMPORT_ROLLBACK_COMPLETE',
];

/**
 * How the next deployment is to be protected: a stack is not until it has been made once, so that a creation that fails
 * can be taken away and repeated. Throws a `CommandError` for a stack that no deployment gets any further.
 */
export function protectionFor(stage: string, { stateful, ...others }: Standings): Settings['protected'] {
  const statefulMade = isMade(resourceName(stage, 'stateful'), stateful);
  const othersMade = Object.entries(others).map(([purpose, standing]) =>
    isMade(resourceName(stage, purpose), standing),
  );
  if (!statefulMade) return 'false';
  return othersMade.includes(false) ? 'stateful' : 'true';
}

function isMade(name: string, standing: StackStanding | undefined): boolean {
  if (standing === undefined) return false;
  const { status, refusesDeletion } = standing;
  if (made.includes(status)) return true;
  if (notMade.includes(status)) {
    // What a failed creation has left is all that the CDK deletes before it creates.
    if (status !== 'ROLLBACK_COMPLETE' || !refusesDeletion) return false;
    throw new CommandError(`The stack ${name} was never made whole (${status}) and refuses to be deleted: ${help}`, 1);
  }
  if (status.endsWith('_IN_PROGRESS')) {
    throw new CommandError(`The stack ${name} is being changed (${status}): wait until that has ended.`, 1);
  }
  throw new CommandError(`The stack ${name} is in a state that no deployment gets it out of (${status}): ${help}`, 1);
}

const help = 'infra/RECOVERY.md says what to do.';

/** Asks CloudFormation how the stacks of a stage stand; needs the right `cloudformation:DescribeStacks`. */
export async function standingsOf(
  stage: string,
  where: Whereabouts & { readonly hasEdge?: boolean } = {},
): Promise<Standings> {
  const { hasEdge = false, ...own } = where;
  return {
    stateful: await standingOf(own, resourceName(stage, 'stateful')),
    stateless: await standingOf(own, resourceName(stage, 'stateless')),
    ...(hasEdge ? { edge: await standingOf({ ...own, region: edgeRegion }, resourceName(stage, 'edge')) } : {}),
  };
}

interface Whereabouts {
  readonly profile?: string;
  readonly region?: string;
}

async function standingOf(where: Whereabouts, name: string): Promise<StackStanding | undefined> {
  const client = new CloudFormationClient({
    ...where,
    maxAttempts: 3,
    requestHandler: { connectionTimeout: 3_000, requestTimeout: 10_000, throwOnRequestTimeout: true },
  });
  try {
    const { Stacks: [stack] = [] } = await client.send(new DescribeStacksCommand({ StackName: name }));
    if (stack?.StackStatus === undefined) return undefined;
    return { status: stack.StackStatus, refusesDeletion: stack.EnableTerminationProtection ?? false };
  } catch (error) {
    // There is no error of its own for it.
    const { name: kind, message } = error as Error;
    if (kind === 'ValidationError' && message.includes('does not exist')) return undefined;
    throw error;
  } finally {
    client.destroy();
  }
}

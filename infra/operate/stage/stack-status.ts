import { CloudFormationClient, DescribeStacksCommand } from '@aws-sdk/client-cloudformation';
import { edgeRegion } from '../../edge.ts';
import { resourceName } from '../../names.ts';
import type { Settings } from '../../settings.ts';
import { CommandError } from '../command.ts';

export type StackPurpose = 'stateful' | 'stateless' | 'edge';

/** The status is CloudFormation's word. */
export interface StackStatus {
  readonly status: string;
  readonly refusesDeletion: boolean;
  /** The stack's output `ApiUrl` tells it. */
  readonly apiUrl?: string | undefined;
}

/** A missing stack is undefined; `edge` exists only with an edge. */
export interface StackStatuses {
  readonly stateful: StackStatus | undefined;
  readonly stateless: StackStatus | undefined;
  readonly edge?: StackStatus | undefined;
}

const conditions = {
  /** The stack does not exist yet, or is deleted. */
  REVIEW_IN_PROGRESS: 'absent',
  DELETE_COMPLETE: 'absent',
  /** Its creation failed; the next deployment creates it. */
  CREATE_FAILED: 'never_whole',
  ROLLBACK_COMPLETE: 'never_whole',
  CREATE_COMPLETE: 'whole',
  UPDATE_COMPLETE: 'whole',
  IMPORT_COMPLETE: 'whole',
  /** The stack is complete, as before its last deployment. */
  UPDATE_ROLLBACK_COMPLETE: 'taken_back',
  IMPORT_ROLLBACK_COMPLETE: 'taken_back',
  /** An update stopped in the middle; the next deployment continues it. */
  UPDATE_FAILED: 'half_updated',
  /** The stack is complete; the CDK waits for the cleanup. */
  UPDATE_COMPLETE_CLEANUP_IN_PROGRESS: 'cleaning_up',
  UPDATE_ROLLBACK_COMPLETE_CLEANUP_IN_PROGRESS: 'cleaning_up',
} as const satisfies Readonly<Record<string, string>>;

/** A condition is what a CloudFormation status means for a deployment; `stuck` cannot be repaired by one. */
export type StackCondition = (typeof conditions)[keyof typeof conditions] | 'changing' | 'stuck';

export function conditionOf(status: string | undefined): StackCondition {
  if (status === undefined) return 'absent';
  if (Object.hasOwn(conditions, status)) return conditions[status as keyof typeof conditions];
  return status.endsWith('_IN_PROGRESS') ? 'changing' : 'stuck';
}

/**
 * Returns the protection for the next deployment: none until the stack was complete once, so that a failed creation can
 * be deleted and repeated. Throws a `CommandError` for a stack that a deployment cannot repair.
 */
export function protectionFor(stage: string, { stateful, ...others }: StackStatuses): Settings['protected'] {
  const statefulMade = isMade(resourceName(stage, 'stateful'), stateful);
  const othersMade = Object.entries(others).map(([purpose, standing]) =>
    isMade(resourceName(stage, purpose), standing),
  );
  if (!statefulMade) return 'false';
  return othersMade.includes(false) ? 'stateful' : 'true';
}

function isMade(name: string, standing: StackStatus | undefined): boolean {
  if (standing === undefined) return false;
  const { status, refusesDeletion } = standing;
  switch (conditionOf(status)) {
    case 'absent':
      return false;
    case 'never_whole':
      // The CDK deletes only the remains of a failed creation before it creates.
      if (status !== 'ROLLBACK_COMPLETE' || !refusesDeletion) return false;
      throw new CommandError(
        `The stack ${name} was never made whole (${status}) and refuses to be deleted: ${help}`,
        1,
      );
    case 'changing':
      throw new CommandError(`The stack ${name} is being changed (${status}): wait until that has ended.`, 1);
    case 'stuck':
      throw new CommandError(
        `The stack ${name} is in a state that no deployment gets it out of (${status}): ${help}`,
        1,
      );
    default:
      return true;
  }
}

const help = 'infra/RECOVERY.md says what to do.';

export interface StackLocation {
  readonly profile?: string;
  readonly region?: string;
}

/** Reads the states of a stage's stacks; needs `cloudformation:DescribeStacks`. */
export async function statusesOf(
  stage: string,
  where: StackLocation & { readonly hasEdge?: boolean } = {},
): Promise<StackStatuses> {
  const { hasEdge = false, ...own } = where;
  return {
    stateful: await statusOf(stage, 'stateful', own),
    stateless: await statusOf(stage, 'stateless', own),
    ...(hasEdge ? { edge: await statusOf(stage, 'edge', own) } : {}),
  };
}

/** Reads the state of one stack, the edge's in its own region; undefined when it does not exist. */
export async function statusOf(
  stage: string,
  purpose: StackPurpose,
  where: StackLocation = {},
): Promise<StackStatus | undefined> {
  const client = new CloudFormationClient({
    ...where,
    ...(purpose === 'edge' ? { region: edgeRegion } : {}),
    maxAttempts: 3,
    requestHandler: { connectionTimeout: 3_000, requestTimeout: 10_000, throwOnRequestTimeout: true },
  });
  try {
    const { Stacks: [stack] = [] } = await client.send(
      new DescribeStacksCommand({ StackName: resourceName(stage, purpose) }),
    );
    if (stack?.StackStatus === undefined) return undefined;
    const { StackStatus: status, EnableTerminationProtection: refusesDeletion = false, Outputs = [] } = stack;
    const apiUrl = Outputs.find(({ OutputKey }) => OutputKey === 'ApiUrl')?.OutputValue;
    return { status, refusesDeletion, apiUrl };
  } catch (error) {
    // CloudFormation has no separate error for this.
    const { name: kind, message } = error as Error;
    if (kind === 'ValidationError' && message.includes('does not exist')) return undefined;
    throw error;
  } finally {
    client.destroy();
  }
}

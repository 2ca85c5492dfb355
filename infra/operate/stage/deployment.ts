import { parseArgs } from 'node:util';
import type { Settings } from '../../settings.ts';
import type { StackLocation } from './stack-status.ts';

/** The arguments and `cdk.json` name the destination. */
export interface Destination {
  readonly stage: string;
  readonly hasEdge: boolean;
  /** The operator chose the protection from deletion, or its absence. */
  readonly isProtectionChosen: boolean;
  readonly where: StackLocation;
}

/** Reads arguments as the CDK does: the last value of a context name wins, and all win over the file. */
export function destinationOf(
  given: readonly string[],
  fileContext: Readonly<Record<string, unknown>> = {},
): Destination {
  const { values } = parseArgs({
    args: [...given],
    strict: false,
    options: {
      context: { type: 'string', short: 'c', multiple: true },
      profile: { type: 'string' },
      region: { type: 'string' },
    },
  });
  const contextValue = (name: string): unknown => {
    const pairs = (values.context ?? []).map(String).filter((pair) => pair.startsWith(`${name}=`));
    return pairs.at(-1)?.slice(`${name}=`.length) ?? fileContext[name];
  };
  const { profile, region } = values;
  return {
    stage: String(contextValue('stage') ?? 'dev'),
    hasEdge: String(contextValue('edge')) === 'true',
    isProtectionChosen: contextValue('protected') !== undefined,
    where: {
      ...(typeof profile === 'string' ? { profile } : {}),
      ...(typeof region === 'string' ? { region } : {}),
    },
  };
}

export interface DeploymentPorts {
  /**
   * Returns the protection for the next deployment, by the state of the stacks. Throws when a deployment must not
   * begin.
   */
  readonly protection: () => Promise<Settings['protected']>;
  readonly build: () => Promise<unknown>;
  /** Runs the CDK's command with these arguments; returns its exit status. */
  readonly run: (given: readonly string[]) => Promise<number>;
  readonly tell: (line: string) => void;
}

/**
 * Deploys a stack that was never complete without protection from deletion, then again with it. With a chosen
 * protection it deploys once. It checks before the build. Returns the exit status.
 */
export async function deployInRounds(
  given: readonly string[],
  { isProtectionChosen }: Pick<Destination, 'isProtectionChosen'>,
  { protection, build, run, tell }: DeploymentPorts,
): Promise<number> {
  const protectedNow = isProtectionChosen ? undefined : await protection();
  await build();
  if (protectedNow === undefined) return await run(given);
  const status = await run(withProtection(given, protectedNow));
  if (status !== 0 || protectedNow === 'true' || (await protection()) !== 'true') return status;
  tell('All stacks are there; once more, to protect them from deletion.');
  return await run(withProtection(given, 'true'));
}

/** Shows what the first round of `deployInRounds` would change. It changes nothing. */
export async function diffOfRound(
  given: readonly string[],
  { isProtectionChosen }: Pick<Destination, 'isProtectionChosen'>,
  { protection, build, run }: Omit<DeploymentPorts, 'tell'>,
): Promise<number> {
  const protectedNow = isProtectionChosen ? undefined : await protection();
  await build();
  return await run(protectedNow === undefined ? given : withProtection(given, protectedNow));
}

function withProtection(given: readonly string[], value: Settings['protected']): string[] {
  return [...given, '-c', `protected=${value}`];
}

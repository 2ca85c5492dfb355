import { parseArgs } from 'node:util';
import type { Settings } from '../settings.ts';
import type { Whereabouts } from './stack-standing.ts';

/** Where a deployment goes, as its arguments and `cdk.json` say. */
export interface Destination {
  readonly stage: string;
  readonly hasEdge: boolean;
  /** Whether they say themselves what is to be protected from deletion. */
  readonly isProtectionChosen: boolean;
  readonly where: Whereabouts;
}

/** Reads the arguments as the CDK reads them: of a context value the last one, before that of the file. */
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
  /** How the next deployment is to be protected, as the stacks stand now. Throws for one that must not begin. */
  readonly protection: () => Promise<Settings['protected']>;
  readonly build: () => Promise<unknown>;
  /** Runs the CDK's own command with these arguments; its exit status. */
  readonly run: (given: readonly string[]) => Promise<number>;
  readonly tell: (line: string) => void;
}

/**
 * Deploys without protection from deletion what has never been made whole, and once more with it when that has succeeded;
 * as it was told, and once, when the arguments choose the protection. Asks before anything is built. The exit status.
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

/** What `deployInRounds` would change in its first round, as it would protect it. Nothing is changed. */
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

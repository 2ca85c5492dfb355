import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { RootConstruct } from 'constructs';
import { type ConcurrencyNeeds, concurrencyNeeds } from '../../concurrency.ts';
import { type FunctionShape, workersOf } from '../../function-shapes/shape.ts';
import { functions } from '../../functions.ts';
import { resourceName } from '../../names.ts';
import { type RequestLimit, requestLimits, routes } from '../../routes.ts';
import { type Settings, settingsFrom } from '../../settings.ts';
import { CommandError } from '../command.ts';

export interface DeploymentNeeds {
  readonly concurrency: ConcurrencyNeeds;
  readonly reserving: readonly string[];
  /** The context value `accountConcurrency` tells it. */
  readonly statedConcurrency: number;
  readonly limits: readonly RequestLimit[];
  readonly routes: number;
  /** The workers of one queue may hold at most these messages together. */
  readonly messagesAtWork: number;
}

/**
 * Computes the needs of a stage with these context values (`name=value`) and those of `cdk.json`. Throws a
 * `CommandError` for invalid values.
 */
export function deploymentNeeds(stage: string, given: readonly string[]): DeploymentNeeds {
  const settings = settingsOf(stage, given);
  const consumers = Object.values(functions).flatMap(({ consumes }) => (consumes === undefined ? [] : [consumes]));
  const reserves = ([, { reservedConcurrency }]: [string, FunctionShape]) => reservedConcurrency !== undefined;
  return {
    concurrency: concurrencyNeeds(functions, settings),
    reserving: Object.entries(functions)
      .filter(reserves)
      .map(([name]) => resourceName(stage, name)),
    statedConcurrency: settings.accountConcurrency,
    limits: requestLimits(settings),
    routes: routes.length,
    messagesAtWork: Math.max(...consumers.map((each) => each.batchSize * workersOf(each, settings))),
  };
}

function settingsOf(stage: string, given: readonly string[]): Settings {
  const { context: ofFile = {} }: { readonly context?: object } = JSON.parse(
    readFileSync(resolve(import.meta.dirname, '../../../cdk.json'), 'utf8'),
  );
  const pairs = given.map((pair): [string, string] => {
    const at = pair.indexOf('=');
    if (at < 1) throw new CommandError(`-c takes NAME=VALUE, not ${pair}`);
    return [pair.slice(0, at), pair.slice(at + 1)];
  });
  const { node } = new RootConstruct();
  for (const [name, value] of Object.entries({ ...ofFile, ...Object.fromEntries(pairs), stage })) {
    node.setContext(name, value);
  }
  try {
    return settingsFrom(node);
  } catch (error) {
    throw new CommandError(error instanceof Error ? error.message : String(error));
  }
}

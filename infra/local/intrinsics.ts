import type { Stack } from './cdk-assembly.ts';

/** The SQS emulators build their ARNs from the same region and account. */
export const localRegion = 'us-east-1';
export const localAccountId = '000000000000';

const pseudoParameters: Readonly<Record<string, string>> = {
  'AWS::Region': localRegion,
  'AWS::AccountId': localAccountId,
  'AWS::Partition': 'aws',
  'AWS::URLSuffix': 'amazonaws.com',
};

export interface Place {
  readonly stack: Stack;
  /** The path names resource and property: `SendFunction.Environment.Variables.MESSAGES_TABLE`. */
  readonly path: string;
}

/** Returns the local value of a resource's `Ref` (no attribute) or `Fn::GetAtt`; undefined when unknown. */
export type ResourceValue = (stack: Stack, logicalId: string, attribute: string | undefined) => unknown;

type Evaluate = (argument: unknown, place: Place) => unknown;

/**
 * Resolves CloudFormation's intrinsic functions as far as CDK emits them, across all stacks of an app. An unknown one
 * is an error that names the place.
 */
export class Intrinsics {
  readonly #stacks: readonly Stack[];
  readonly #resourceValue: ResourceValue;

  constructor(stacks: readonly Stack[], resourceValue: ResourceValue) {
    this.#stacks = stacks;
    this.#resourceValue = resourceValue;
  }

  /** Resolves every intrinsic function in a value. `AWS::NoValue` is `undefined` and dropped from lists and objects. */
  resolve(value: unknown, place: Place): unknown {
    if (Array.isArray(value)) {
      return value.map((item) => this.resolve(item, place)).filter((item) => item !== undefined);
    }
    if (value === null || typeof value !== 'object') return value;
    const entries = Object.entries(value);
    const [only] = entries;
    if (entries.length === 1 && only !== undefined && isFunctionName(only[0])) {
      const evaluate = this.#functions[only[0]] ?? fail(place, `${only[0]} is not known to the local stack`);
      return evaluate(only[1], place);
    }
    return Object.fromEntries(
      entries
        .map(([key, item]) => [key, this.resolve(item, { ...place, path: `${place.path}.${key}` })])
        .filter(([, item]) => item !== undefined),
    );
  }

  exists(stack: Stack, logicalId: string): boolean {
    const name = stack.resources[logicalId]?.Condition;
    return name === undefined || this.#condition(name, { stack, path: `${logicalId}.Condition` });
  }

  readonly #functions: Readonly<Record<string, Evaluate>> = {
    Ref: (argument, place) => this.#reference(place, this.#text(argument, place)),
    'Fn::GetAtt': (argument, place) => {
      const [logicalId, ...attribute] =
        typeof argument === 'string' ? argument.split('.') : this.#list(argument, place);
      return this.#reference(place, String(logicalId), attribute.join('.'));
    },
    'Fn::ImportValue': (argument, place) => this.#imported(this.#text(argument, place), place),
    'Fn::Join': (argument, place) => {
      const [separator, parts] = pair(argument, place);
      const texts = this.#list(parts, place).map((part) => this.#text(part, place));
      return texts.join(this.#text(separator, place));
    },
    'Fn::Split': (argument, place) => {
      const [separator, source] = pair(argument, place);
      return this.#text(source, place).split(this.#text(separator, place));
    },
    'Fn::Select': (argument, place) => {
      const [index, source] = pair(argument, place);
      const items = this.#list(source, place);
      return items[Number(this.#text(index, place))] ?? fail(place, 'Fn::Select points past the end of its list');
    },
    'Fn::Sub': (argument, place) => this.#substituted(argument, place),
    'Fn::If': (argument, place) => {
      const [name, whenTrue, whenFalse] = Array.isArray(argument) ? argument : [];
      return this.resolve(this.#condition(String(name), place) ? whenTrue : whenFalse, place);
    },
    'Fn::FindInMap': (argument, place) => {
      let found: unknown = place.stack.mappings;
      for (const key of this.#list(argument, place)) {
        found = (found as Record<string, unknown> | undefined)?.[String(key)];
      }
      return found ?? fail(place, 'Fn::FindInMap finds nothing');
    },
    'Fn::Equals': (argument, place) => {
      const [left, right] = this.#list(argument, place);
      return left === right;
    },
    'Fn::And': (argument, place) => this.#list(argument, place).every((item) => item === true),
    'Fn::Or': (argument, place) => this.#list(argument, place).some((item) => item === true),
    'Fn::Not': (argument, place) => this.#list(argument, place)[0] !== true,
    Condition: (argument, place) => this.#condition(String(argument), place),
  };

  #substituted(argument: unknown, place: Place): string {
    const [pattern, variables] = Array.isArray(argument) ? argument : [argument, {}];
    return String(pattern).replace(/\$\{(!?)([^}]+)\}/g, (_, literally: string, name: string) => {
      if (literally !== '') return `\${${name}}`;
      if (Object.hasOwn(variables, name)) return this.#text(variables[name], place);
      const [logicalId = '', ...attribute] = name.split('.');
      return this.#text(
        this.#reference(place, logicalId, attribute.length === 0 ? undefined : attribute.join('.')),
        place,
      );
    });
  }

  #reference(place: Place, logicalId: string, attribute?: string): unknown {
    if (attribute === undefined) {
      if (logicalId === 'AWS::NoValue') return undefined;
      if (logicalId === 'AWS::StackName') return place.stack.name;
      const pseudo = pseudoParameters[logicalId];
      if (pseudo !== undefined) return pseudo;
      const parameter = place.stack.parameters[logicalId];
      // The default of an SSM parameter is the name of the value, not the value.
      if (parameter?.Default !== undefined && !parameter.Type.startsWith('AWS::SSM::')) return parameter.Default;
    }
    const resource = place.stack.resources[logicalId] ?? fail(place, `the stack does not define ${logicalId}`);
    const spelled = attribute === undefined ? `Ref ${logicalId}` : `Fn::GetAtt ${logicalId}.${attribute}`;
    return (
      this.#resourceValue(place.stack, logicalId, attribute) ??
      fail(place, `${spelled} (${resource.Type}) has no value on the local stack`)
    );
  }

  #imported(name: string, place: Place): unknown {
    for (const stack of this.#stacks) {
      for (const output of stack.outputs) {
        if (output.exportName === undefined) continue;
        const from = { stack, path: `Outputs (imported as ${name} by ${place.stack.name} ${place.path})` };
        if (this.#text(output.exportName, from) === name) return this.resolve(output.value, from);
      }
    }
    return fail(place, `no stack exports ${name}`);
  }

  #condition(name: string, place: Place): boolean {
    const expression = place.stack.conditions[name] ?? fail(place, `the stack does not define condition ${name}`);
    const holds = this.resolve(expression, place);
    return typeof holds === 'boolean' ? holds : fail(place, `condition ${name} is neither true nor false`);
  }

  #text(value: unknown, place: Place): string {
    const resolved = this.resolve(value, place);
    if (typeof resolved === 'object' || resolved === undefined) {
      return fail(place, `expected text, found ${JSON.stringify(resolved)}`);
    }
    return String(resolved);
  }

  #list(value: unknown, place: Place): unknown[] {
    const resolved = this.resolve(value, place);
    return Array.isArray(resolved) ? resolved : fail(place, `expected a list, found ${JSON.stringify(resolved)}`);
  }
}

function isFunctionName(key: string): boolean {
  return key === 'Ref' || key === 'Condition' || key.startsWith('Fn::');
}

function pair(argument: unknown, place: Place): [unknown, unknown] {
  if (Array.isArray(argument) && argument.length === 2) return [argument[0], argument[1]];
  return fail(place, `expected two arguments, found ${JSON.stringify(argument)}`);
}

function fail(place: Place, reason: string): never {
  throw new Error(`${place.stack.name} ${place.path}: ${reason}`);
}

import type { Stack } from './cdk-assembly.ts';

/** The SQS emulators build their ARNs from the same region and account. */
export const localRegion = 'us-east-1';
export const localAccountId = '000000000000';

const pseudoParameters: Readonly<Record<string, string>> = {
  'AWS::Region': localRegion,
  'AWS::AccountId': localAccountId,
  'AWS::Partition': 'aws',
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
 * Resolves the intrinsic functions of CloudFormation that the synthesized stacks use, across all stacks of an app. An
 * unknown one is an error that names the place.
 */
export class Intrinsics {
  readonly #stacks: readonly Stack[];
  readonly #resourceValue: ResourceValue;

  constructor(stacks: readonly Stack[], resourceValue: ResourceValue) {
    this.#stacks = stacks;
    this.#resourceValue = resourceValue;
  }

  /** Resolves every intrinsic function in a value. */
  resolve(value: unknown, place: Place): unknown {
    if (Array.isArray(value)) return value.map((item) => this.resolve(item, place));
    if (value === null || typeof value !== 'object') return value;
    const entries = Object.entries(value);
    const [only] = entries;
    if (entries.length === 1 && only !== undefined && isFunctionName(only[0])) {
      const evaluate = this.#functions[only[0]] ?? fail(place, `${only[0]} is not known to the local stack`);
      return evaluate(only[1], place);
    }
    return Object.fromEntries(
      entries.map(([key, item]) => [key, this.resolve(item, { ...place, path: `${place.path}.${key}` })]),
    );
  }

  readonly #functions: Readonly<Record<string, Evaluate>> = {
    Ref: (argument, place) => this.#reference(place, this.#text(argument, place)),
    'Fn::GetAtt': (argument, place) => {
      const [logicalId, attribute] = pair(argument, place);
      return this.#reference(place, this.#text(logicalId, place), this.#text(attribute, place));
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
    'Fn::Sub': (argument, place) =>
      this.#text(argument, place).replace(/\$\{([^}]+)\}/g, (_, name: string) =>
        this.#text(this.#reference(place, name), place),
      ),
  };

  #reference(place: Place, logicalId: string, attribute?: string): unknown {
    const pseudo = attribute === undefined ? pseudoParameters[logicalId] : undefined;
    if (pseudo !== undefined) return pseudo;
    const resource = place.stack.resources[logicalId] ?? fail(place, `the stack does not define ${logicalId}`);
    const spelled = attribute === undefined ? `Ref ${logicalId}` : `Fn::GetAtt ${logicalId}.${attribute}`;
    return (
      this.#resourceValue(place.stack, logicalId, attribute) ??
      fail(place, `${spelled} (${resource.Type}) has no value on the local stack`)
    );
  }

  #imported(name: string, place: Place): unknown {
    for (const stack of this.#stacks) {
      const output = stack.outputs.find(({ exportName }) => exportName === name);
      if (output === undefined) continue;
      return this.resolve(output.value, {
        stack,
        path: `Outputs (imported as ${name} by ${place.stack.name} ${place.path})`,
      });
    }
    return fail(place, `no stack exports ${name}`);
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
  return key === 'Ref' || key.startsWith('Fn::');
}

function pair(argument: unknown, place: Place): [unknown, unknown] {
  if (Array.isArray(argument) && argument.length === 2) return [argument[0], argument[1]];
  return fail(place, `expected two arguments, found ${JSON.stringify(argument)}`);
}

function fail(place: Place, reason: string): never {
  throw new Error(`${place.stack.name} ${place.path}: ${reason}`);
}

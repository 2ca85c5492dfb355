import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { inject } from 'vitest';
import type { SettingChoice } from './setting-choices.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    /** The folder has a subfolder for each choice of settings, as `cdk synth` writes it. */
    assembliesDirectory: string;
  }
}

/** CloudFormation reads these properties of a resource. */
export interface Resource {
  readonly id: string;
  readonly type: string;
  // biome-ignore lint/suspicious/noExplicitAny: properties of any resource type, picked apart by the tests
  readonly properties: any;
  readonly deletionPolicy?: string;
  readonly updateReplacePolicy?: string;
  readonly dependsOn: readonly string[];
}

type StackId = 'Stateful' | 'Stateless' | 'Edge';

export interface Standing {
  readonly stackName: string;
  /** The region is `unknown-region` when it is chosen at deployment. */
  readonly region: string;
  readonly terminationProtection: boolean;
  /** These stacks must be deployed first. */
  readonly after: readonly string[];
}

export interface Stacks {
  readonly stateful: readonly Resource[];
  readonly stateless: readonly Resource[];
  /** The list is empty without an edge in the settings. */
  readonly edge: readonly Resource[];
  /** The stateful stack exports by name what the stateless one imports. */
  readonly exports: ReadonlyMap<string, unknown>;
  readonly importedNames: ReadonlySet<string>;
  standing(id: StackId): Standing;
  /** Returns resources of one type, of all stacks. */
  all(type: string): Resource[];
  /** Returns an output of the stateless stack. */
  output(name: string): unknown;
  /** Returns the logical id of the resource that a Ref, GetAtt or ImportValue leads to. */
  target(reference: unknown): string;
  /** Returns the function that a reference calls, directly or by its alias. */
  called(reference: unknown): string;
}

/** Reads the stacks of a choice of settings, from the project's set-up. */
export function stacksOf(choice: SettingChoice): Stacks {
  return stacksIn(join(inject('assembliesDirectory'), choice));
}

/** Reads the stacks in a folder that `cdk synth` has written. */
export function stacksIn(directory: string): Stacks {
  const fileNamed = (name: string) => JSON.parse(readFileSync(join(directory, name), 'utf8'));
  const { artifacts } = fileNamed('manifest.json');
  const ids = ['Stateful', 'Stateless', 'Edge'].filter((id) => id in artifacts);
  const templates = ids.map((id) => fileNamed(artifacts[id].properties.templateFile));
  const [stateful = [], stateless = [], edge = []] = templates.map(resourcesOf);
  const exported = exportsOf(templates[0]);
  return {
    stateful,
    stateless,
    edge,
    exports: exported,
    importedNames: importedBy(templates[1]),
    standing: (id) => standingOf(artifacts[id]),
    all: (type) => [...stateful, ...stateless, ...edge].filter((resource) => resource.type === type),
    output: (name) => templates[1].Outputs[name]?.Value,
    target: (reference) => targetOf(reference, exported),
    called: (reference) => calledBy(reference, stateless),
  };
}

// biome-ignore lint/suspicious/noExplicitAny: an artifact of a cloud assembly
function standingOf({ environment, properties, dependencies }: any): Standing {
  return {
    stackName: properties.stackName,
    region: environment.split('/').at(-1),
    terminationProtection: properties.terminationProtection ?? false,
    after: dependencies.filter((id: string) => !id.endsWith('.assets')),
  };
}

// biome-ignore lint/suspicious/noExplicitAny: a CloudFormation template
function resourcesOf(template: any): Resource[] {
  // biome-ignore lint/suspicious/noExplicitAny: a CloudFormation resource
  return Object.entries<any>(template.Resources).map(([id, resource]) => ({
    id,
    type: resource.Type,
    properties: resource.Properties,
    deletionPolicy: resource.DeletionPolicy,
    updateReplacePolicy: resource.UpdateReplacePolicy,
    dependsOn: resource.DependsOn ?? [],
  }));
}

// biome-ignore lint/suspicious/noExplicitAny: a CloudFormation template
function exportsOf(template: any): Map<string, unknown> {
  // biome-ignore lint/suspicious/noExplicitAny: a CloudFormation output
  const exported = Object.values<any>(template.Outputs).filter((output) => output.Export !== undefined);
  return new Map(exported.map((output) => [output.Export.Name, output.Value]));
}

function importedBy(template: unknown): Set<string> {
  const found = JSON.stringify(template).matchAll(/"Fn::ImportValue":"([^"]+)"/g);
  return new Set([...found].map(([, name = '']) => name));
}

function calledBy(reference: unknown, resources: readonly Resource[]): string {
  const [, id = ''] = /"(?:Ref|Fn::GetAtt)":\[?"([^"]+)"/.exec(JSON.stringify(reference)) ?? [];
  const found = resources.find((resource) => resource.id === id);
  return found?.type === 'AWS::Lambda::Alias' ? calledBy(found.properties.FunctionName, resources) : id;
}

function targetOf(reference: unknown, exported: ReadonlyMap<string, unknown>): string {
  // biome-ignore lint/suspicious/noExplicitAny: an intrinsic function of CloudFormation
  const intrinsic = reference as any;
  if (intrinsic?.Ref !== undefined) return intrinsic.Ref;
  if (intrinsic?.['Fn::GetAtt'] !== undefined) return intrinsic['Fn::GetAtt'][0];
  if (intrinsic?.['Fn::ImportValue'] !== undefined)
    return targetOf(exported.get(intrinsic['Fn::ImportValue']), exported);
  throw new Error(`not a reference to a resource: ${JSON.stringify(reference)}`);
}

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { App } from 'aws-cdk-lib';
import { functions } from '../../infra/functions.ts';
import { serviceApp } from '../../infra/service.ts';

/** One resource of a template, its properties as CloudFormation reads them. */
export interface Resource {
  readonly id: string;
  readonly type: string;
  // biome-ignore lint/suspicious/noExplicitAny: properties of any resource type, picked apart by the tests
  readonly properties: any;
  readonly deletionPolicy?: string;
  readonly updateReplacePolicy?: string;
  readonly dependsOn: readonly string[];
}

export interface Synthesized {
  readonly app: App;
  readonly stateful: readonly Resource[];
  readonly stateless: readonly Resource[];
  /** None where the settings have no edge. */
  readonly edge: readonly Resource[];
  /** What the stateful stack exports, by name, and the names that the stateless one imports. */
  readonly exports: ReadonlyMap<string, unknown>;
  readonly importedNames: ReadonlySet<string>;
  /** Resources of one type, of all stacks. */
  all(type: string): Resource[];
  /** What an output of the stateless stack says. */
  output(name: string): unknown;
  /** Ends at the resource a Ref, GetAtt or ImportValue points to, and gives its logical id. */
  target(reference: unknown): string;
  /** The function that is called by a reference, straight or by its alias. */
  called(reference: unknown): string;
}

/** A folder with an empty bundle for each given function, removed by `done`. */
export function stubBundles(names: readonly string[] = Object.keys(functions)) {
  const directory = mkdtempSync(join(tmpdir(), 'bundles-'));
  for (const name of names) {
    mkdirSync(join(directory, 'functions', name), { recursive: true });
    writeFileSync(join(directory, 'functions', name, 'index.mjs'), 'export const handler = async () => ({});\n');
  }
  return {
    bundlesDirectory: join(directory, 'functions'),
    outputDirectory: join(directory, 'cdk.out'),
    done: () => rmSync(directory, { recursive: true, force: true }),
  };
}

/**
 * Synthesizes the service in this process, over stub bundles of every function or of the given ones. The rules of
 * CloudFormation take longer than all the rest: they apply where they are what is tested.
 */
export function synthesize(
  context: Readonly<Record<string, unknown>> = {},
  names: readonly string[] = Object.keys(functions),
  rulesApply = false,
): Synthesized {
  const { bundlesDirectory, outputDirectory, done } = stubBundles(names);
  try {
    const app = serviceApp({ bundlesDirectory, outputDirectory, context, rulesApply });
    const assembly = app.synth();
    const templates = ['Stateful', 'Stateless', ...(app.node.tryFindChild('Edge') ? ['Edge'] : [])].map(
      (id) => assembly.getStackArtifact(id).template,
    );
    const [stateful = [], stateless = [], edge = []] = templates.map(resourcesOf);
    const exported = exportsOf(templates[0]);
    return {
      app,
      stateful,
      stateless,
      edge,
      exports: exported,
      importedNames: importedBy(templates[1]),
      all: (type) => [...stateful, ...stateless, ...edge].filter((resource) => resource.type === type),
      output: (name) => templates[1].Outputs[name]?.Value,
      target: (reference) => targetOf(reference, exported),
      called: (reference) => calledBy(reference, stateless),
    };
  } finally {
    done();
  }
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

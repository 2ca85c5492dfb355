import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import * as v from 'valibot';

export interface Resource {
  readonly Type: string;
  readonly Properties?: Readonly<Record<string, unknown>> | undefined;
}

/** Intrinsic functions are unresolved. */
export interface Stack {
  readonly name: string;
  readonly resources: Readonly<Record<string, Resource>>;
  readonly outputs: readonly { readonly value: unknown; readonly exportName?: string }[];
}

export interface CdkAssembly {
  readonly stacks: readonly Stack[];
  /** Each directory of unpacked code has the key of its upload. */
  readonly codeDirectories: ReadonlyMap<string, string>;
}

const ManifestSchema = v.object({
  artifacts: v.record(
    v.string(),
    v.object({
      type: v.string(),
      properties: v.optional(
        v.object({
          templateFile: v.optional(v.string()),
          stackName: v.optional(v.string()),
          file: v.optional(v.string()),
          directoryName: v.optional(v.string()),
        }),
      ),
    }),
  ),
});

const TemplateSchema = v.object({
  Resources: v.optional(
    v.record(
      v.string(),
      v.object({
        Type: v.string(),
        Condition: v.optional(v.never('the local stack knows no conditions')),
        Properties: v.optional(v.record(v.string(), v.unknown())),
      }),
    ),
    {},
  ),
  Outputs: v.optional(
    v.record(v.string(), v.object({ Value: v.unknown(), Export: v.optional(v.object({ Name: v.string() })) })),
    {},
  ),
});

const AssetsSchema = v.object({
  files: v.optional(
    v.record(
      v.string(),
      v.object({
        source: v.object({ path: v.optional(v.string()), packaging: v.optional(v.string()) }),
        destinations: v.record(v.string(), v.object({ objectKey: v.string() })),
      }),
    ),
    {},
  ),
});

/**
 * Reads the output of `cdk synth`, also nested assemblies. Code directories come from the asset manifests, because
 * templates lack `aws:asset:path` when the app runs without the CDK command line.
 */
export function readAssembly(directory: string): CdkAssembly {
  const stacks: Stack[] = [];
  const codeDirectories = new Map<string, string>();
  readInto(directory, stacks, codeDirectories);
  return { stacks, codeDirectories };
}

function readInto(directory: string, stacks: Stack[], codeDirectories: Map<string, string>): void {
  const { artifacts } = readJson(ManifestSchema, join(directory, 'manifest.json'));
  for (const [id, { type, properties = {} }] of Object.entries(artifacts)) {
    if (type === 'aws:cloudformation:stack' && properties.templateFile !== undefined) {
      stacks.push(readStack(properties.stackName ?? id, join(directory, properties.templateFile)));
    } else if (type === 'cdk:asset-manifest' && properties.file !== undefined) {
      for (const [key, path] of codeAssets(directory, properties.file)) codeDirectories.set(key, path);
    } else if (type === 'cdk:cloud-assembly' && properties.directoryName !== undefined) {
      readInto(join(directory, properties.directoryName), stacks, codeDirectories);
    }
  }
}

function readStack(name: string, file: string): Stack {
  const template = readJson(TemplateSchema, file);
  return {
    name,
    resources: template.Resources,
    outputs: Object.values(template.Outputs).map((output) => ({
      value: output.Value,
      exportName: output.Export?.Name,
    })),
  };
}

function* codeAssets(directory: string, file: string): Generator<[string, string]> {
  const { files } = readJson(AssetsSchema, join(directory, file));
  for (const { source, destinations } of Object.values(files)) {
    if (source.packaging !== 'zip' || source.path === undefined) continue;
    for (const { objectKey } of Object.values(destinations)) yield [objectKey, resolve(directory, source.path)];
  }
}

function readJson<const S extends v.GenericSchema>(schema: S, file: string): v.InferOutput<S> {
  const result = v.safeParse(schema, JSON.parse(readFileSync(file, 'utf8')));
  if (result.success) return result.output;
  const [issue] = result.issues;
  throw new Error(`${file} is not what cdk synth writes: ${v.getDotPath(issue) ?? ''} ${issue.message}`);
}

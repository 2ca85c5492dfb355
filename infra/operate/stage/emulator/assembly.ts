import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** MiniStack 1.5 does not take these types, for the given reason; everything else is deployed as it was synthesized. */
export const refusedTypes: Readonly<Record<string, string>> = {
  'AWS::CodeDeploy::': 'no such resource types: aliases move at once',
  'AWS::CloudWatch::': 'alarms on metric expressions and the dashboard are refused, and a whole stack with them',
  'AWS::Logs::QueryDefinition': 'no such resource type',
  'AWS::SQS::QueuePolicy': 'these deny what does not come by TLS, and the emulator speaks HTTP',
};

/**
 * The CDK reaches an account by the roles of its bootstrap, whose policies the emulator judges otherwise than AWS does.
 */
const bootstrapRoles = ['assumeRoleArn', 'assumeRoleExternalId', 'cloudFormationExecutionRoleArn', 'lookupRole'];

interface Resource {
  readonly Type: string;
  readonly DependsOn?: string | readonly string[];
  readonly UpdatePolicy?: unknown;
}

export interface Template {
  readonly Resources: Readonly<Record<string, Resource>>;
}

/**
 * A secret's `Ref` is its ARN on AWS, and in the emulator its name, on which no role has a right; `Id` is the ARN in
 * both.
 */
const secretType = 'AWS::SecretsManager::Secret';

/** On AWS these rights hold for the batch as well; the emulator wants a right of its own for it. */
const batched: Readonly<Record<string, string>> = {
  'sqs:SendMessage': 'sqs:SendMessageBatch',
  'sqs:ChangeMessageVisibility': 'sqs:ChangeMessageVisibilityBatch',
  'sqs:DeleteMessage': 'sqs:DeleteMessageBatch',
};

/** A worker is a process here, and two cores have no use for hundreds; the pace of numbers decides anyway. */
const mostWorkers = 8;
/**
 * A message stays hidden for one and a half timeouts of its function, not AWS's six, so that a deleted worker's message
 * comes again sooner.
 */
const visibilityShare = 1 / 4;

/** The keys are names of properties; the copy has these smaller numbers. */
const smaller: Readonly<Record<string, (value: number) => number>> = {
  MaximumConcurrency: (workers) => Math.min(workers, mostWorkers),
  VisibilityTimeout: (seconds) => Math.ceil(seconds * visibilityShare),
};

/**
 * Returns the template without resources of refused types, without `DependsOn` on them, and without update policies,
 * which need CodeDeploy.
 */
export function acceptedPart<Whole extends Template>(template: Whole): Whole {
  const isRefused = ({ Type }: Resource) => Object.keys(refusedTypes).some((prefix) => Type.startsWith(prefix));
  const kept = Object.entries(template.Resources).filter(([, resource]) => !isRefused(resource));
  const names = new Set(kept.map(([name]) => name));
  const resources = kept.map(([name, { UpdatePolicy: _, DependsOn, ...resource }]) => {
    const needed = [DependsOn ?? []].flat().filter((each) => names.has(each));
    return [name, { ...resource, DependsOn: needed.length === 0 ? undefined : needed }];
  });
  const secrets = kept.filter(([, { Type }]) => Type === secretType).map(([name]) => name);
  return respelt({ ...template, Resources: Object.fromEntries(resources) }, secrets) as Whole;
}

/**
 * Returns the value changed at any depth: a `Ref` to a secret becomes its attribute `Id`, rights include their batches,
 * numbers get smaller.
 */
function respelt(value: unknown, secrets: readonly string[]): unknown {
  if (Array.isArray(value)) return value.map((part) => respelt(part, secrets));
  if (typeof value !== 'object' || value === null) return value;
  if ('Ref' in value && secrets.includes(String(value.Ref))) return { 'Fn::GetAtt': [value.Ref, 'Id'] };
  const parts = Object.entries(value).map(([name, part]) => {
    if (name === 'Action') return [name, withBatches(part)];
    if (typeof part === 'number') return [name, smaller[name]?.(part) ?? part];
    return [name, respelt(part, secrets)];
  });
  return Object.fromEntries(parts);
}

function withBatches(action: unknown): unknown {
  const actions = [action].flat();
  const added = actions.flatMap((each) => batched[String(each)] ?? []);
  return added.length === 0 ? action : [...actions, ...added];
}

/** Rewrites a synthesized assembly in place to what the emulator takes. It must never run on one that goes to AWS. */
export function fitToEmulator(assembly: string): void {
  for (const file of readdirSync(assembly)) {
    const path = join(assembly, file);
    if (file.endsWith('.template.json')) write(path, acceptedPart(read(path) as Template));
    else if (file === 'manifest.json' || file.endsWith('.assets.json')) write(path, withoutRoles(read(path)));
  }
}

/** Removes the names of the bootstrap's roles at any depth, so that the CDK uses the caller's credentials. */
export function withoutRoles(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutRoles);
  if (typeof value !== 'object' || value === null) return value;
  const kept = Object.entries(value).filter(([name]) => !bootstrapRoles.includes(name));
  return Object.fromEntries(kept.map(([name, part]) => [name, withoutRoles(part)]));
}

function read(path: string): unknown {
  return JSON.parse(readFileSync(path, 'utf8'));
}

function write(path: string, value: unknown): void {
  writeFileSync(path, JSON.stringify(value));
}

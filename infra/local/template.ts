import * as v from 'valibot';
import { type CdkAssembly, readAssembly, type Stack } from './cdk-assembly.ts';
import { Intrinsics } from './intrinsics.ts';
import type {
  LocalAuthorizer,
  LocalCors,
  LocalEventSource,
  LocalFunction,
  LocalQueue,
  LocalRoute,
  LocalSchedule,
  LocalTable,
  LocalTemplate,
} from './local-template.ts';
import { physicalName, physicalValue, qualifiedId } from './physical-names.ts';
import * as schemas from './template-schemas.ts';

export interface TemplateOptions {
  readonly cdkOutDirectory: string;
  /** The `Ref` of a queue is the URL that functions use. */
  readonly queueUrl: (queueName: string) => string;
}

/**
 * Reads a synthesized CDK app. Throws, naming stack, resource and property, for all that cannot run faithfully (unknown
 * attribute, inline code, event filter). Types that matter only in AWS (roles, alarms, logs) are skipped.
 */
export function readLocalTemplate(options: TemplateOptions): LocalTemplate {
  return new TemplateReader(readAssembly(options.cdkOutDirectory), options.queueUrl).read();
}

interface Found {
  readonly stack: Stack;
  readonly logicalId: string;
  readonly id: string;
}

class TemplateReader {
  readonly #assembly: CdkAssembly;
  readonly #intrinsics: Intrinsics;

  constructor(assembly: CdkAssembly, queueUrl: (queueName: string) => string) {
    this.#assembly = assembly;
    this.#intrinsics = new Intrinsics(assembly.stacks, (stack, logicalId, attribute) =>
      physicalValue(
        {
          type: stack.resources[logicalId]?.Type ?? '',
          id: qualifiedId(stack, logicalId),
          name: physicalName(this.#intrinsics, stack, logicalId),
          attribute,
        },
        queueUrl,
      ),
    );
  }

  read(): LocalTemplate {
    const functions = this.#each(['AWS::Lambda::Function'], (found) => this.#function(found));
    const byName = new Map(functions.map(({ name, id }) => [name, id]));
    const aliases = this.#each(['AWS::Lambda::Alias'], (found) => this.#alias(found, byName));
    const functionIds = new Map([...byName, ...aliases]);
    const integrations = this.#each(['AWS::ApiGatewayV2::Integration'], (found) => {
      const { IntegrationUri } = this.#properties(schemas.Integration, found);
      return [found.id, functionIdOf(IntegrationUri, functionIds, found)] as const;
    });
    const authorizers = this.#each(['AWS::ApiGatewayV2::Authorizer'], (found) => {
      const properties = this.#properties(schemas.Authorizer, found);
      const authorizer: LocalAuthorizer = {
        functionId: functionIdOf(properties.AuthorizerUri, functionIds, found),
        identitySources: properties.IdentitySource,
        cacheTtlSeconds: properties.AuthorizerResultTtlInSeconds,
      };
      return [found.id, authorizer] as const;
    });
    const [cors] = this.#each(['AWS::ApiGatewayV2::Api'], (found) => this.#cors(found));
    return {
      cors,
      routes: this.#each(['AWS::ApiGatewayV2::Route'], (found) => this.#route(found, new Map(integrations))),
      authorizers: Object.fromEntries(authorizers),
      functions: Object.fromEntries(functions.map((found) => [found.id, found])),
      tables: this.#each(['AWS::DynamoDB::Table', 'AWS::DynamoDB::GlobalTable'], (found) => this.#table(found)),
      queues: this.#each(['AWS::SQS::Queue'], (found) => this.#queue(found)),
      eventSources: this.#each(['AWS::Lambda::EventSourceMapping'], (found) =>
        this.#eventSource(found, functionIds),
      ).filter((source) => source !== undefined),
      schedules: this.#each(['AWS::Events::Rule'], (found) => this.#schedules(found, functionIds)).flat(),
      secrets: this.#each(['AWS::SecretsManager::Secret'], (found) => ({ name: this.#name(found) })),
    };
  }

  #function(found: Found): LocalFunction {
    const { Code, Handler, Timeout, MemorySize, Environment } = this.#properties(schemas.LambdaFunction, found);
    const codeDirectory = this.#assembly.codeDirectories.get(Code.S3Key);
    if (codeDirectory === undefined) throw new Error(`${where(found)}.Code: ${Code.S3Key} is no asset of the app`);
    return {
      id: found.id,
      name: this.#name(found),
      codeDirectory,
      handler: Handler,
      timeoutSeconds: Timeout,
      memoryMb: MemorySize,
      environment: Environment.Variables,
    };
  }

  /** Only one version of a function exists here, so an alias is another name for it. */
  #alias(found: Found, functionIds: ReadonlyMap<string, string>): readonly [string, string] {
    const { FunctionName } = this.#properties(schemas.Alias, found);
    return [this.#name(found), functionIdOf(FunctionName, functionIds, found)];
  }

  #route(found: Found, integrations: ReadonlyMap<string, string>): LocalRoute {
    const { RouteKey, Target, AuthorizationType, AuthorizerId } = this.#properties(schemas.Route, found);
    const [method = '', path = ''] = RouteKey.split(' ');
    const functionId = integrations.get(Target.slice('integrations/'.length));
    if (functionId === undefined) throw new Error(`${where(found)}.Target: ${Target} is no integration of the app`);
    if (AuthorizationType === 'NONE') return { method, path, functionId };
    if (AuthorizerId === undefined) throw new Error(`${where(found)}.AuthorizerId is missing`);
    return { method, path, functionId, authorizerId: AuthorizerId };
  }

  #cors(found: Found): LocalCors | undefined {
    const { CorsConfiguration: cors } = this.#properties(schemas.Api, found);
    if (cors === undefined) return undefined;
    return {
      allowOrigins: cors.AllowOrigins,
      allowMethods: cors.AllowMethods,
      allowHeaders: cors.AllowHeaders,
      exposeHeaders: cors.ExposeHeaders,
      maxAgeSeconds: cors.MaxAge,
    };
  }

  #table(found: Found): LocalTable {
    const properties = this.#properties(schemas.Table, found);
    const ttl = properties.TimeToLiveSpecification;
    return {
      name: this.#name(found),
      attributeDefinitions: properties.AttributeDefinitions,
      keySchema: properties.KeySchema,
      globalSecondaryIndexes: properties.GlobalSecondaryIndexes,
      ttlAttribute: ttl?.Enabled ? ttl.AttributeName : undefined,
    };
  }

  #queue(found: Found): LocalQueue {
    const properties = this.#properties(schemas.Queue, found);
    const redrive = properties.RedrivePolicy;
    return {
      id: found.id,
      name: this.#name(found),
      visibilityTimeoutSeconds: properties.VisibilityTimeout,
      delaySeconds: properties.DelaySeconds,
      retentionSeconds: properties.MessageRetentionPeriod,
      redrive: redrive && {
        deadLetterQueueName: lastOf(redrive.deadLetterTargetArn),
        maxReceiveCount: redrive.maxReceiveCount,
      },
    };
  }

  #eventSource(found: Found, functionIds: ReadonlyMap<string, string>): LocalEventSource | undefined {
    const properties = this.#properties(schemas.EventSourceMapping, found);
    if (!properties.Enabled) return undefined;
    const maximumConcurrency = properties.ScalingConfig?.MaximumConcurrency;
    return {
      functionId: functionIdOf(properties.FunctionName, functionIds, found),
      queueName: lastOf(properties.EventSourceArn),
      batchSize: properties.BatchSize,
      windowSeconds: properties.MaximumBatchingWindowInSeconds,
      maximumConcurrency,
      reportBatchItemFailures: properties.FunctionResponseTypes.includes('ReportBatchItemFailures'),
    };
  }

  #schedules(found: Found, functionIds: ReadonlyMap<string, string>): LocalSchedule[] {
    const { State, ScheduleExpression, Targets } = this.#properties(schemas.Rule, found);
    if (State !== 'ENABLED') return [];
    const [, count, unit = ''] = /^rate\((\d+) (minute|hour|day)/.exec(ScheduleExpression) ?? [];
    const everyMs = Number(count) * (msOfUnit[unit] ?? Number.NaN);
    return Targets.map(({ Arn }) => ({ functionId: functionIdOf(Arn, functionIds, found), everyMs }));
  }

  #name(found: Found): string {
    return physicalName(this.#intrinsics, found.stack, found.logicalId);
  }

  #each<T>(types: readonly string[], read: (found: Found) => T): T[] {
    return this.#assembly.stacks.flatMap((stack) =>
      Object.entries(stack.resources)
        .filter(([, { Type }]) => types.includes(Type))
        .map(([logicalId]) => read({ stack, logicalId, id: qualifiedId(stack, logicalId) })),
    );
  }

  /** Other properties need not be resolvable. */
  #properties<const S extends v.ObjectSchema<v.ObjectEntries, undefined>>(schema: S, found: Found): v.InferOutput<S> {
    const { stack, logicalId } = found;
    const given = stack.resources[logicalId]?.Properties ?? {};
    const resolved = Object.keys(schema.entries).map((key) => [
      key,
      this.#intrinsics.resolve(given[key], { stack, path: `${logicalId}.${key}` }),
    ]);
    const result = v.safeParse(schema, Object.fromEntries(resolved));
    if (result.success) return result.output;
    const [issue] = result.issues;
    throw new Error(`${where(found)}.${v.getDotPath(issue) ?? ''}: ${issue.message}`);
  }
}

const msOfUnit: Readonly<Record<string, number>> = { minute: 60_000, hour: 3_600_000, day: 86_400_000 };

/** A reference is a name, an ARN, or an API Gateway URI with the ARN, each with or without an alias. */
function functionIdOf(reference: string, functionIds: ReadonlyMap<string, string>, found: Found): string {
  const name = /:function:([^/]+)/.exec(reference)?.[1] ?? reference;
  const functionId = functionIds.get(name);
  if (functionId === undefined) throw new Error(`${where(found)}: ${reference} is no function of the app`);
  return functionId;
}

function where({ stack, logicalId }: Found): string {
  return `${stack.name} ${logicalId}`;
}

function lastOf(resourceArn: string): string {
  return resourceArn.slice(resourceArn.lastIndexOf(':') + 1);
}

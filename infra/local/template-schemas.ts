import * as v from 'valibot';

/**
 * The schemas name what the local stack uses, with CloudFormation's defaults. Values that it cannot run (another
 * payload format, a filter) are refused.
 */
const unsupported = (what: string) => v.optional(v.never(`the local stack does not run ${what}`));
const numeric = v.pipe(v.union([v.number(), v.string()]), v.transform(Number), v.number());

const EnvironmentValue = v.pipe(
  v.union([v.string(), v.number(), v.boolean()]),
  v.transform(String),
  v.check((value) => !value.includes('{{resolve:'), 'dynamic references are not resolved on the local stack'),
);

export const LambdaFunction = v.object({
  Code: v.object({ S3Key: v.string() }, 'code must be an asset; inline code does not run on the local stack'),
  Handler: v.string(),
  Timeout: v.optional(v.number(), 3),
  MemorySize: v.optional(v.number(), 128),
  Environment: v.optional(v.object({ Variables: v.optional(v.record(v.string(), EnvironmentValue), {}) }), {
    Variables: {},
  }),
});

export const Alias = v.object({
  FunctionName: v.string(),
  Name: v.string(),
  FunctionVersion: v.string(),
  RoutingConfig: unsupported('aliases that lead to two versions'),
});

export const Api = v.object({
  CorsConfiguration: v.optional(
    v.object({
      AllowOrigins: v.array(
        v.pipe(v.string(), v.regex(/^(?:\*|[^*]+)$/, 'the local stack knows no patterns of origins')),
      ),
      AllowMethods: v.optional(v.array(v.string()), []),
      AllowHeaders: v.optional(v.array(v.string()), []),
      ExposeHeaders: v.optional(v.array(v.string()), []),
      MaxAge: v.optional(v.number(), 0),
      AllowCredentials: unsupported('credentials of other origins'),
    }),
  ),
});

export const Integration = v.object({
  IntegrationType: v.literal('AWS_PROXY'),
  IntegrationUri: v.string(),
  PayloadFormatVersion: v.literal('2.0'),
});

export const Authorizer = v.object({
  AuthorizerType: v.literal('REQUEST'),
  AuthorizerPayloadFormatVersion: v.literal('2.0'),
  EnableSimpleResponses: v.literal(true),
  AuthorizerUri: v.string(),
  IdentitySource: v.array(v.string()),
  AuthorizerResultTtlInSeconds: v.number(),
});

export const Route = v.object({
  RouteKey: v.pipe(v.string(), v.regex(/^[A-Z]+ \/\S*$/, 'expected a route key such as GET /path')),
  Target: v.pipe(v.string(), v.startsWith('integrations/')),
  AuthorizationType: v.optional(v.picklist(['NONE', 'CUSTOM']), 'NONE'),
  AuthorizerId: v.optional(v.string()),
});

export const KeySchema = v.array(v.object({ AttributeName: v.string(), KeyType: v.picklist(['HASH', 'RANGE']) }));

export const Table = v.object({
  AttributeDefinitions: v.array(v.object({ AttributeName: v.string(), AttributeType: v.picklist(['S', 'N', 'B']) })),
  KeySchema,
  GlobalSecondaryIndexes: v.optional(
    v.array(
      v.object({
        IndexName: v.string(),
        KeySchema,
        Projection: v.object({
          ProjectionType: v.picklist(['ALL', 'KEYS_ONLY', 'INCLUDE']),
          NonKeyAttributes: v.optional(v.array(v.string())),
        }),
      }),
    ),
    [],
  ),
  LocalSecondaryIndexes: unsupported('local secondary indexes'),
  TimeToLiveSpecification: v.optional(v.object({ AttributeName: v.optional(v.string()), Enabled: v.boolean() })),
});

export const Queue = v.object({
  VisibilityTimeout: v.optional(v.number(), 30),
  DelaySeconds: v.optional(v.number(), 0),
  MessageRetentionPeriod: v.optional(v.number(), 345_600),
  RedrivePolicy: v.optional(v.object({ deadLetterTargetArn: v.string(), maxReceiveCount: numeric })),
});

export const Rule = v.object({
  State: v.optional(v.string(), 'ENABLED'),
  ScheduleExpression: v.pipe(
    v.string(),
    v.regex(/^rate\(\d+ (?:minute|hour|day)s?\)$/, 'the local stack runs rates only'),
  ),
  EventPattern: unsupported('rules of events'),
  Targets: v.array(v.object({ Arn: v.string() })),
});

export const EventSourceMapping = v.object({
  Enabled: v.optional(v.boolean(), true),
  EventSourceArn: v.pipe(v.string(), v.startsWith('arn:aws:sqs:', 'the local stack reads queues only')),
  FunctionName: v.string(),
  BatchSize: v.optional(v.number(), 10),
  MaximumBatchingWindowInSeconds: v.optional(v.number(), 0),
  ScalingConfig: v.optional(v.object({ MaximumConcurrency: v.optional(v.number()) })),
  FunctionResponseTypes: v.optional(v.array(v.string()), []),
  FilterCriteria: unsupported('event filters'),
  ProvisionedPollerConfig: unsupported('provisioned pollers'),
});

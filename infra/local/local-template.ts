import type * as v from 'valibot';
import type * as schemas from './template-schemas.ts';

export interface LocalRoute {
  readonly method: string;
  readonly path: string;
  readonly functionId: string;
  readonly authorizerId?: string;
}

export interface LocalAuthorizer {
  readonly functionId: string;
  readonly identitySources: readonly string[];
  readonly cacheTtlSeconds: number;
}

/** Header names are as written. */
export interface LocalCors {
  readonly allowOrigins: readonly string[];
  readonly allowMethods: readonly string[];
  readonly allowHeaders: readonly string[];
  readonly exposeHeaders: readonly string[];
  readonly maxAgeSeconds: number;
}

export interface LocalFunction {
  readonly id: string;
  readonly name: string;
  readonly codeDirectory: string;
  readonly handler: string;
  readonly timeoutSeconds: number;
  readonly memoryMb: number;
  readonly environment: Readonly<Record<string, string>>;
}

export interface LocalTable {
  readonly name: string;
  readonly attributeDefinitions: v.InferOutput<typeof schemas.Table>['AttributeDefinitions'];
  readonly keySchema: v.InferOutput<typeof schemas.KeySchema>;
  readonly globalSecondaryIndexes: v.InferOutput<typeof schemas.Table>['GlobalSecondaryIndexes'];
  readonly ttlAttribute?: string;
}

export interface LocalQueue {
  readonly id: string;
  readonly name: string;
  readonly visibilityTimeoutSeconds: number;
  readonly delaySeconds: number;
  readonly retentionSeconds: number;
  readonly redrive?: { readonly deadLetterQueueName: string; readonly maxReceiveCount: number };
}

export interface LocalEventSource {
  readonly functionId: string;
  readonly queueName: string;
  readonly batchSize: number;
  readonly windowSeconds: number;
  readonly maximumConcurrency?: number;
  readonly reportBatchItemFailures: boolean;
}

/** A function runs each time that so much has passed. */
export interface LocalSchedule {
  readonly functionId: string;
  readonly everyMs: number;
}

/** Every reference is resolved. Ids are `<stack>.<logical id>`. */
export interface LocalTemplate {
  readonly routes: readonly LocalRoute[];
  readonly authorizers: Readonly<Record<string, LocalAuthorizer>>;
  readonly cors?: LocalCors;
  readonly functions: Readonly<Record<string, LocalFunction>>;
  readonly tables: readonly LocalTable[];
  readonly queues: readonly LocalQueue[];
  readonly eventSources: readonly LocalEventSource[];
  readonly schedules: readonly LocalSchedule[];
  readonly secrets: readonly { readonly name: string }[];
}

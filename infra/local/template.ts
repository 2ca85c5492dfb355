/** The synthesized template, resolved into what a machine without AWS needs in order to run it. */
export interface LocalTemplate {
  readonly routes: readonly {
    readonly method: string;
    readonly path: string;
    readonly functionId: string;
    readonly authorizerId?: string;
  }[];
  readonly authorizers: Readonly<
    Record<
      string,
      { readonly functionId: string; readonly identitySources: readonly string[]; readonly cacheTtlSeconds: number }
    >
  >;
  readonly functions: Readonly<
    Record<
      string,
      {
        readonly id: string;
        readonly name: string;
        readonly codeDirectory: string;
        readonly handler: string;
        readonly timeoutSeconds: number;
        readonly memoryMb: number;
        readonly environment: Readonly<Record<string, string>>;
      }
    >
  >;
  readonly tables: readonly { readonly name: string }[];
  readonly queues: readonly { readonly name: string }[];
  readonly eventSources: readonly {
    readonly functionId: string;
    readonly queueName: string;
    readonly batchSize: number;
    readonly windowSeconds: number;
    readonly maximumConcurrency?: number;
    readonly reportBatchItemFailures: boolean;
  }[];
  readonly secrets: readonly { readonly name: string }[];
}

export declare function readLocalTemplate(options: {
  readonly cdkOutDirectory: string;
  readonly queueUrl: (queueName: string) => string;
}): LocalTemplate;

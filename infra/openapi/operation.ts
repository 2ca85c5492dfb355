import type * as v from 'valibot';
import type { RefusalCode } from '../../lib/http/refusal.ts';
import type { HeaderName } from './headers.ts';

export const tags = {
  Access: 'Tokens, and whether the service is there.',
  Sending: 'Sending templates, and what became of what was sent.',
  Templates: 'Templates of a client: listing, creating, editing, deleting, switching on and off.',
  Assignments: 'Which channels and campaigns a template is assigned to.',
  Directory: 'What a client has: campaigns, channels, products, prices.',
  'Opt-outs': 'Who wants no marketing of a client.',
  Webhooks: 'Where the events of a client go.',
  Platform: 'For the platform and for recipients; not for clients.',
} as const;
export type Tag = keyof typeof tags;

export interface AnswerDocument {
  readonly description: string;
  /** An answer without a schema has no body, unless `text` is set. */
  readonly schema?: v.GenericSchema;
  readonly text?: true;
  /**
   * This describes the answer as a table. It is not a second media type, because generated clients would make a union
   * of two.
   */
  readonly csv?: string;
  readonly headers?: readonly HeaderName[];
  readonly links?: Readonly<Record<string, LinkDocument>>;
}

/**
 * A link is a request that follows from the answer. `parameters` use the document's names; values are runtime
 * expressions or constants.
 */
export interface LinkDocument {
  readonly operationId: string;
  readonly description: string;
  readonly parameters: Readonly<Record<string, string>>;
}

export interface FormDocument {
  readonly name: string;
  readonly example: { readonly summary: string; readonly description: string; readonly template: unknown };
}

/** Tests execute this request on the demo data. */
export interface ExampleDocument {
  readonly summary: string;
  readonly parameters?: Readonly<Record<string, string | number | boolean | readonly string[]>>;
  readonly body?: unknown;
  readonly status: number;
  readonly answer?: unknown;
}

export interface OperationDocument {
  readonly tag: Tag;
  readonly summary: string;
  readonly description: string;
  readonly path?: v.ObjectSchema<v.ObjectEntries, undefined>;
  readonly query?: v.ObjectSchema<v.ObjectEntries, undefined>;
  readonly headers?: v.ObjectSchema<v.ObjectEntries, undefined>;
  readonly body?: {
    readonly schema: v.GenericSchema;
    /** The route also takes a request without a body. */
    readonly optional?: true;
    /** The body may also come as a form with a file. */
    readonly form?: FormDocument;
  };
  readonly answers: Readonly<Record<number, AnswerDocument>>;
  readonly refusals: readonly RefusalCode[];
  readonly examples: Readonly<Record<string, ExampleDocument>>;
}

export type Operations = Readonly<Record<string, OperationDocument>>;

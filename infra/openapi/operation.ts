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

/** One answer that is no refusal. */
export interface AnswerDocument {
  readonly description: string;
  /** Of the JSON; an answer without has no body, but for `text`. */
  readonly schema?: v.GenericSchema;
  /** The answer is plain text. */
  readonly text?: true;
  /** What the answer is for who asks for a table. Told beside: of two media types generated clients make a union. */
  readonly csv?: string;
  readonly headers?: readonly HeaderName[];
  /** What can be asked next with what the answer says, by a name for it. */
  readonly links?: Readonly<Record<string, LinkDocument>>;
}

/** A link as OpenAPI spells it; `parameters` are by their names in the document, values runtime expressions or constants. */
export interface LinkDocument {
  readonly operationId: string;
  readonly description: string;
  readonly parameters: Readonly<Record<string, string>>;
}

/** What a form takes beside the JSON, with an example of one. */
export interface FormDocument {
  /** The name of the form's schema. */
  readonly name: string;
  readonly example: { readonly summary: string; readonly description: string; readonly template: unknown };
}

/** A request that works on the demo data, and its answer. Tests execute it. */
export interface ExampleDocument {
  readonly summary: string;
  readonly parameters?: Readonly<Record<string, string | number | boolean | readonly string[]>>;
  readonly body?: unknown;
  readonly status: number;
  readonly answer?: unknown;
}

/** What is said of an operation beside its schemas, which are those of its page. */
export interface OperationDocument {
  readonly tag: Tag;
  readonly summary: string;
  readonly description: string;
  readonly path?: v.ObjectSchema<v.ObjectEntries, undefined>;
  readonly query?: v.ObjectSchema<v.ObjectEntries, undefined>;
  /** Of the request. */
  readonly headers?: v.ObjectSchema<v.ObjectEntries, undefined>;
  readonly body?: {
    readonly schema: v.GenericSchema;
    /** The route takes a request without a body. */
    readonly optional?: true;
    /** It may come as a form too, with a file. */
    readonly form?: FormDocument;
  };
  readonly answers: Readonly<Record<number, AnswerDocument>>;
  /** Every code that the route may refuse with. */
  readonly refusals: readonly RefusalCode[];
  readonly examples: Readonly<Record<string, ExampleDocument>>;
}

export type Operations = Readonly<Record<string, OperationDocument>>;

// What a send is made of, for any templates: `npm run template-types` writes this before those of a client.

declare const template: unique symbol;

/** The values of one part, in order. What the compiler says of a wrong number of them names their template. */
export type ValuesOf<Template extends string, Values extends readonly string[]> = Values & {
  readonly [template]?: Template;
};

/** Only what is needed: everything else that there could be must be left out. */
type Exactly<Needed, All extends PropertyKey> = Needed & { readonly [Key in Exclude<All, keyof Needed>]?: never };

type Part = 'header' | 'body' | 'buttons' | 'products' | 'cards';

type ParamsOf<Needs> = Needs extends { readonly params: infer Params }
  ? { readonly params: Exactly<Params, Part> }
  : { readonly params?: Exactly<unknown, Part> };

type ComponentOf<Needs> = Needs extends { readonly header: infer Header }
  ? { readonly component: { readonly header: Header } }
  : { readonly component?: { readonly header?: never } };

/** One recipient of a template: the number, and the values for its variables by position. */
export type RecipientFor<Needs> = { readonly to: string } & ParamsOf<Needs>;

/** The body of `POST /v1/template/messages/{did}` for one template. */
export type SendFor<Name, Language, Needs> = {
  readonly did: string;
  readonly type: 'template';
  readonly channel: 'MESSAGING';
  readonly template: { readonly name: Name; readonly language: Language };
  readonly recipients: readonly RecipientFor<Needs>[];
  readonly campaignId?: number;
  readonly client_id?: number;
  readonly attends?: Readonly<Record<string, unknown>>;
  readonly message_send_ttl_seconds?: number;
} & ComponentOf<Needs>;

/** The same for any of several templates. */
export type SendForAny<Templates> = {
  [Name in keyof Templates]: {
    [Language in keyof Templates[Name]]: SendFor<Name, Language, Templates[Name][Language]>;
  }[keyof Templates[Name]];
}[keyof Templates];

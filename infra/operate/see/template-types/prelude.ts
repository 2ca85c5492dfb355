// A send is made of these, whatever its template: `infra/ops template-types` writes them before a client's templates.

declare const template: unique symbol;

/** A part has its values in order. The compiler's error about a wrong number of them names their template. */
export type ValuesOf<Template extends string, Values extends readonly string[]> = Values & {
  readonly [template]?: Template;
};

/** Only what is needed may be there. */
type Exactly<Needed, All extends PropertyKey> = Needed & { readonly [Key in Exclude<All, keyof Needed>]?: never };

type Part = 'header' | 'body' | 'buttons' | 'products' | 'cards';

type ParamsOf<Needs> = Needs extends { readonly params: infer Params }
  ? { readonly params: Exactly<Params, Part> }
  : { readonly params?: Exactly<unknown, Part> };

type ComponentOf<Needs> = Needs extends { readonly header: infer Header }
  ? { readonly component: { readonly header: Header } }
  : { readonly component?: { readonly header?: never } };

/** A recipient has a number, and the values for the template's variables by position. */
export type RecipientFor<Needs> = { readonly to: string } & ParamsOf<Needs>;

/** This is the body of `POST /v1/template/messages/{did}` for one template. */
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

/** Any of several templates may be sent. */
export type SendForAny<Templates> = {
  [Name in keyof Templates]: {
    [Language in keyof Templates[Name]]: SendFor<Name, Language, Templates[Name][Language]>;
  }[keyof Templates[Name]];
}[keyof Templates];

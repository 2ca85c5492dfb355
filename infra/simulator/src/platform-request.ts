import type { SeedToken } from './seed.ts';

export interface PlatformRequest {
  readonly method: string;
  /** The path is as received, with the version. */
  readonly path: string;
  readonly query: URLSearchParams;
  /**
   * The body is parsed JSON or a form, otherwise raw text. It is undefined without a body, and for the bytes of an
   * upload.
   */
  readonly body: unknown;
  /** Query and body share the parameters; the token is not among them. */
  readonly parameters: Readonly<Record<string, unknown>>;
  readonly file: FormFile | undefined;
  /** An upload's body is here as far as it arrived; otherwise it is empty. */
  readonly bytes: Buffer;
  /** The token comes from the header, or from the parameter `access_token` of query or body. */
  readonly accessToken: string | undefined;
  /** The platform sets the token once it has checked it. */
  readonly token?: SeedToken;
  /** The header `file_offset` gives it. */
  readonly fileOffset: string | undefined;
  /** Links in replies begin with this scheme, host and path. */
  readonly self: string;
  /** The wait ends early when the client closes the connection. */
  readonly wait: (ms: number) => Promise<void>;
}

export interface FormFile {
  readonly type: string;
  readonly bytes: Buffer;
}

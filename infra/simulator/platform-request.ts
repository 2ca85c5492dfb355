import type { SeedToken } from './seed.ts';

export interface PlatformRequest {
  readonly method: string;
  /** Path as received, with the version. */
  readonly path: string;
  readonly query: URLSearchParams;
  /** Parsed JSON or form; otherwise raw text. Undefined without a body, and for the bytes of an upload. */
  readonly body: unknown;
  /** Parameters of query and body together, without the token. */
  readonly parameters: Readonly<Record<string, unknown>>;
  readonly file: FormFile | undefined;
  /** Body of an upload, as far as it arrived; otherwise empty. */
  readonly bytes: Buffer;
  /** From the header, or from the parameter `access_token` of query or body. */
  readonly accessToken: string | undefined;
  /** Set once the token is checked. */
  readonly token?: SeedToken;
  /** Header `file_offset`. */
  readonly fileOffset: string | undefined;
  /** Scheme, host and path, for links in replies. */
  readonly self: string;
  /** Resolves early when the client closes the connection. */
  readonly wait: (ms: number) => Promise<void>;
}

export interface FormFile {
  readonly type: string;
  readonly bytes: Buffer;
}

import type { SeedToken } from './seed.ts';

/** One request of the platform's interface, read and parsed. */
export interface PlatformRequest {
  readonly method: string;
  /** As it came, with the version. */
  readonly path: string;
  readonly query: URLSearchParams;
  /** Parsed JSON or form; the raw text when it is neither; undefined when there is none, and for the bytes of an upload. */
  readonly body: unknown;
  /** What query and body say together, the token apart. */
  readonly parameters: Readonly<Record<string, unknown>>;
  /** The file of a form. */
  readonly file: FormFile | undefined;
  /** The body of an upload, as far as it arrived; empty for everything else. */
  readonly bytes: Buffer;
  /** From the header, or the parameter `access_token` of query or body. */
  readonly accessToken: string | undefined;
  /** Whose request it is, once that is known. */
  readonly token?: SeedToken;
  /** The header `file_offset` of an upload. */
  readonly fileOffset: string | undefined;
  /** Scheme, host and path, for links in replies. */
  readonly self: string;
  /** Resolves after the given time, or at once when the client closes the connection. */
  readonly wait: (ms: number) => Promise<void>;
}

export interface FormFile {
  readonly type: string;
  readonly bytes: Buffer;
}

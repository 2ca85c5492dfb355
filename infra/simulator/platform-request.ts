/** One request of the platform's interface, read and parsed. */
export interface PlatformRequest {
  readonly method: string;
  /** As it came, with the version. */
  readonly path: string;
  readonly query: URLSearchParams;
  /** Parsed JSON; the raw text when it is not JSON; undefined when there is none, and for the bytes of an upload. */
  readonly body: unknown;
  /** The body of an upload, as far as it arrived; empty for everything else. */
  readonly bytes: Buffer;
  readonly authorization: string | undefined;
  /** The header `file_offset` of an upload. */
  readonly fileOffset: string | undefined;
  /** Scheme, host and path, for links in replies. */
  readonly self: string;
  /** Resolves after the given time, or at once when the client closes the connection. */
  readonly wait: (ms: number) => Promise<void>;
}

/** One request of the platform's interface, read and parsed. */
export interface PlatformRequest {
  readonly method: string;
  /** As it came, with the version. */
  readonly path: string;
  readonly query: URLSearchParams;
  /** Parsed JSON; the raw text when it is not JSON; undefined when there is none. */
  readonly body: unknown;
  readonly authorization: string | undefined;
  /** Scheme, host and path, for links in replies. */
  readonly self: string;
  /** Resolves after the given time, or at once when the client closes the connection. */
  readonly wait: (ms: number) => Promise<void>;
}

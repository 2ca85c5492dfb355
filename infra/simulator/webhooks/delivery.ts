/** A post to a receiver of the platform's webhooks; the console shows it too, so this file needs no Node.js. */
export interface Delivery {
  readonly app_id: string;
  readonly url: string;
  readonly updates: number;
  readonly fields: Readonly<Record<string, number>>;
  readonly bytes: number;
  /** Counts from 1. */
  readonly attempt: number;
  /** HTTP status, or the reason why there is none. */
  readonly answer: number | string;
  readonly at: string;
  /** The envelope, unless it is too long. */
  readonly body?: unknown;
}

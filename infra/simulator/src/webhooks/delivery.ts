/** A post goes to a receiver of the platform's webhooks; the console shows it too, so this file needs no Node.js. */
export interface Delivery {
  readonly app_id: string;
  readonly url: string;
  readonly updates: number;
  readonly fields: Readonly<Record<string, number>>;
  readonly bytes: number;
  /** The attempts count from 1. */
  readonly attempt: number;
  /** The answer is the HTTP status, or the reason why there is none. */
  readonly answer: number | string;
  readonly at: string;
  /** The envelope is missing when it is too long. */
  readonly body?: unknown;
}

import { functions } from '../../../infra/functions.ts';

/*
 * What cannot be measured on one machine without AWS, and is assumed: how long others take to answer, which is billed as time
 * that a function waits, and what AWS itself writes into the logs.
 */

/** Milliseconds for an answer of a table, of a queue, of the platform, and of a client's receiver. */
export const storeMs = 5;
export const queueMs = 10;
export const platformMs = 200;
export const receiverMs = 100;

/**
 * Processor time of the worker, as `npm run bench -- worker` finds it: for each run, for each message of it, and for each small
 * request beside its messages, which is a job of its own.
 */
export const workerProcessorMs = { ofRun: 11, ofMessage: 1, ofSmallRequest: 4.5 } as const;

/** START, END and REPORT of one invocation, which Lambda writes. */
export const invocationLogBytes = 300;
/** The line of the access log. */
export const accessLogBytes = 400;
/** Of the authorizer, which checks a signature; the gateway remembers its answer for a token for a minute. */
export const authorizerProcessorMs = 2;
export const authorizedForMs = 60_000;

export function memoryOf(name: keyof typeof functions & string): number {
  const shape = functions[name];
  if (shape === undefined) throw new Error(`there is no function ${name}`);
  return shape.memoryMb;
}
